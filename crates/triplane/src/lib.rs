//! The facade of triplane: interception, observation and durable delivery behind one Runtime.
