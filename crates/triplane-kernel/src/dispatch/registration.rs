//! One handler's place in a dispatcher: its name, what it hears, how it is declared.

use std::fmt;
use std::num::NonZeroU64;
use std::panic::Location;

use crate::cancel::Cooperation;
use crate::dispatch::handler::Handler;
use crate::dispatch::key::Key;
use crate::failure::HandlerFailure;
use crate::name::RegistrationName;
use crate::policy::Declared;

/// Identifies one registration within its dispatcher, for the dispatcher's lifetime; ids are never
/// given twice and grow in the order of registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegistrationId(pub(crate) NonZeroU64);

impl fmt::Display for RegistrationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

pub(crate) type Predicate<S> = Box<dyn Fn(&S) -> Result<bool, HandlerFailure> + Send + Sync>;

/// A handler with its name and its filter.
///
/// Without keys it hears every signal; with several it hears a signal that has one of them.
///
/// ```
/// use triplane_kernel::{Key, Registration, RegistrationName, handler_fn};
///
/// # fn main() -> Result<(), triplane_kernel::NameRefused> {
/// let registration: Registration<u32> =
///     Registration::sync(RegistrationName::new("log")?, handler_fn(|n: &u32| Ok(println!("{n}"))))
///         .on(Key::from_static("number"))
///         .when(|n| *n > 3);
/// # Ok(())
/// # }
/// ```
pub struct Registration<S, T = ()> {
    pub(crate) name: RegistrationName,
    pub(crate) declared: Declared,
    pub(crate) keys: Vec<Key>,
    pub(crate) predicate: Option<Predicate<S>>,
    pub(crate) cooperation: Cooperation,
    /// Whether its call, too, looks at the scope when it runs elsewhere.
    pub(crate) heeds_elsewhere: bool,
    pub(crate) handler: Box<dyn Handler<S, T>>,
    pub(crate) place: &'static Location<'static>,
}

impl<S, T> Registration<S, T> {
    /// A handler that is declared sync and hears every signal.
    #[track_caller]
    pub fn sync(name: RegistrationName, handler: impl Handler<S, T> + 'static) -> Self {
        Self::new(name, Declared::Sync, handler)
    }

    /// A handler that is declared async and hears every signal.
    #[track_caller]
    pub fn asynchronous(name: RegistrationName, handler: impl Handler<S, T> + 'static) -> Self {
        Self::new(name, Declared::Async, handler)
    }

    /// A handler of this declaration that hears every signal. An `Arc` of a handler is one, too.
    #[track_caller]
    pub fn new(
        name: RegistrationName,
        declared: Declared,
        handler: impl Handler<S, T> + 'static,
    ) -> Self {
        Self {
            name,
            declared,
            keys: Vec::new(),
            predicate: None,
            cooperation: Cooperation::Dropped,
            heeds_elsewhere: true,
            handler: Box::new(handler),
            place: Location::caller(),
        }
    }

    /// Narrows to signals with this key, or with one of the keys given before.
    #[must_use]
    pub fn on(mut self, key: Key) -> Self {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        self
    }

    /// Narrows further to signals that the predicate accepts. It must be quick and must not block.
    #[must_use]
    pub fn when(self, accepts: impl Fn(&S) -> bool + Send + Sync + 'static) -> Self {
        self.when_fallible(move |signal| Ok(accepts(signal)))
    }

    /// The same with a predicate that can fail; what a failure means, the policy says.
    #[must_use]
    pub fn when_fallible(
        mut self,
        accepts: impl Fn(&S) -> Result<bool, HandlerFailure> + Send + Sync + 'static,
    ) -> Self {
        self.predicate = Some(Box::new(accepts));
        self
    }

    /// Declares that the handler looks at its scope: a request to cancel does not drop it.
    #[must_use]
    pub fn cooperative(mut self) -> Self {
        self.cooperation = Cooperation::Cooperative;
        self
    }

    /// Declares that of a cooperative handler the call itself does not look at its scope when it runs
    /// on another thread: there a request leaves it behind. What it returned to be awaited is polled
    /// here, and meets the request.
    #[must_use]
    pub fn heedless_elsewhere(mut self) -> Self {
        self.heeds_elsewhere = false;
        self
    }
}

impl<S, T> fmt::Debug for Registration<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.name)
            .field("declared", &self.declared)
            .field("keys", &self.keys)
            .field("predicate", &self.predicate.is_some())
            .field("cooperation", &self.cooperation)
            .field("place", &format_args!("{}", self.place))
            .finish_non_exhaustive()
    }
}
