//! One interceptor's place in a plan.

use std::fmt;

use crate::cancel::Cooperation;
use crate::declare::CallableRef;
use crate::intercept::interceptor::Interceptor;
use crate::name::{RegistrationName, StageName};

/// An interceptor with its name and its place (ADR-0120 D2, `InterceptorRegistration`).
///
/// Registrations run in the order of (stage as the owner declares it, `order`, composition).
#[non_exhaustive]
pub struct InterceptorRegistration<C> {
    /// Unique within one compiled plan; it appears in reports and audit rows.
    pub name: RegistrationName,
    /// One of the stages that the owner declares.
    pub stage: StageName,
    /// The place within the stage, lowest first. Equal places keep the order of composition.
    pub order: i32,
    /// What is asked.
    pub handler: Box<dyn Interceptor<C>>,
    /// What a request to cancel does while the handler waits.
    pub cooperation: Cooperation,
    /// The durable name of the handler, for the plan's digest.
    pub callable: Option<CallableRef>,
}

impl<C> InterceptorRegistration<C> {
    /// A registration whose handler is dropped by a request to cancel. One handler for several
    /// registrations is an [`Arc`](std::sync::Arc) of it.
    pub fn new(
        name: RegistrationName,
        stage: StageName,
        order: i32,
        handler: impl Interceptor<C> + 'static,
    ) -> Self {
        Self {
            name,
            stage,
            order,
            handler: Box::new(handler),
            cooperation: Cooperation::Dropped,
            callable: None,
        }
    }

    /// Adds the durable name that the handler was resolved from.
    #[must_use]
    pub fn resolved_from(mut self, callable: CallableRef) -> Self {
        self.callable = Some(callable);
        self
    }

    /// The same, for a handler that looks at its scope and ends by itself.
    #[must_use]
    pub fn cooperative(mut self) -> Self {
        self.cooperation = Cooperation::Cooperative;
        self
    }
}

impl<C> fmt::Debug for InterceptorRegistration<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptorRegistration")
            .field("name", &self.name)
            .field("stage", &self.stage)
            .field("order", &self.order)
            .field("cooperation", &self.cooperation)
            .finish_non_exhaustive()
    }
}
