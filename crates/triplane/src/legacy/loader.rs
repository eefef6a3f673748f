//! The loader: hooks by name, and the bus of a session made of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use triplane_kernel::HandlerFailure;

use crate::legacy::error::BuiltinUnbound;
use crate::legacy::hook_bus::HookBus;
use crate::legacy::hook_chain::Hook;
use crate::legacy::hook_point::{HookPoint, UnknownHookPoint};
use crate::legacy::session_observer::SessionObserver;
use crate::legacy::value::Value;

/// The built-in handlers that every session's bus has (ADR-0047 D3; plane: interception and observation, as
/// the points), unless an agent's mapping names the point.
///
/// Move to references that are declared: [`CallableRef`](triplane_kernel::declare::CallableRef).
pub const DEFAULT_HOOKS: &[(HookPoint, &[&str])] = &[
    (HookPoint::SessionStart, &["persist_session_start"]),
    (HookPoint::SessionEnd, &["persist_session_end"]),
    (HookPoint::BranchCreate, &["persist_branch_provenance"]),
    (HookPoint::BranchEnd, &["persist_branch_end"]),
];

/// The names of the built-in handlers.
pub const BUILTINS: &[&str] = &[
    "persist_session_start",
    "persist_session_end",
    "persist_branch_provenance",
    "persist_branch_end",
    "persist_message",
    "log_api_metrics",
    "log_tool_call",
    "log_tool_use",
];

/// Handlers by name (plane: interception and observation, as the points of the hooks).
///
/// Move to a registry of [`CallableRef`](triplane_kernel::declare::CallableRef)s, which is immutable and
/// has a digest.
///
/// A built-in handler is a reference, named `builtin:<name>`: until its plane is bound to it, calling it
/// fails with [`BuiltinUnbound`].
#[derive(Debug, Clone)]
pub struct Loader {
    builtins: BTreeMap<&'static str, Hook>,
    registered: BTreeMap<String, Hook>,
}

/// Why a mapping of hooks cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A key is not a point.
    #[error(transparent)]
    UnknownPoint(#[from] UnknownHookPoint),
    /// The hooks of a point are not a list of names.
    #[error("the hooks of `{point}` are not a list of names")]
    NotAList {
        /// The point.
        point: HookPoint,
    },
    /// No handler has this name.
    #[error(transparent)]
    UnknownHandler(#[from] UnknownHandler),
}

/// No handler has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no hook handler is called `{name}`; there are {}", .known.join(", "))]
pub struct UnknownHandler {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

impl Loader {
    /// With the built-in handlers.
    pub fn new() -> Self {
        let builtins: BTreeMap<_, _> = BUILTINS.iter().map(|name| (*name, unbound(name))).collect();
        let named = builtins
            .iter()
            .map(|(name, hook)| ((*name).to_owned(), hook.clone()));
        Self {
            registered: named.collect(),
            builtins,
        }
    }

    /// Gives a handler a name; a handler that had it loses it. A built-in handler that loses its name
    /// stays in [`DEFAULT_HOOKS`].
    pub fn register_handler(&mut self, name: impl Into<String>, hook: &Hook) {
        self.registered.insert(name.into(), hook.clone());
    }

    /// The handler of this name.
    ///
    /// # Errors
    ///
    /// [`UnknownHandler`] when there is none.
    pub fn resolve_handler(&self, name: &str) -> Result<Hook, UnknownHandler> {
        self.registered
            .get(name)
            .cloned()
            .ok_or_else(|| UnknownHandler {
                name: name.to_owned(),
                known: self.registered.keys().cloned().collect(),
            })
    }

    /// The handlers that an agent's mapping names, from points to lists of names. They are not joined
    /// with the defaults.
    ///
    /// # Errors
    ///
    /// The first [`LoadError`], in the order of the mapping.
    pub fn load_hooks_for_agent(
        &self,
        mapping: &Value,
    ) -> Result<Vec<(HookPoint, Vec<Hook>)>, LoadError> {
        let mut loaded: Vec<(HookPoint, Vec<Hook>)> = Vec::new();
        for (point, names) in mapping.fields() {
            let point: HookPoint = point.parse()?;
            let Value::List(names) = names else {
                return Err(LoadError::NotAList { point });
            };
            let mut hooks = Vec::new();
            for name in names.iter() {
                let Value::Text(name) = name else {
                    return Err(LoadError::NotAList { point });
                };
                hooks.push(self.resolve_handler(name)?);
            }
            loaded.push((point, hooks));
        }
        Ok(loaded)
    }

    /// A bus with the default hooks, in which a point that the mapping names has the mapping's instead;
    /// an empty list leaves it without.
    ///
    /// # Errors
    ///
    /// As [`load_hooks_for_agent`](Self::load_hooks_for_agent); then there is no bus.
    pub fn build_session_bus(
        &self,
        mapping: &Value,
        observer: Option<Arc<SessionObserver>>,
    ) -> Result<HookBus, LoadError> {
        let overrides = self.load_hooks_for_agent(mapping)?;
        let bus = HookBus::new(observer);
        for (point, hooks) in self.defaults() {
            let named = overrides.iter().find(|(other, _)| *other == point);
            for hook in named.map_or(&hooks, |(_, hooks)| hooks) {
                bus.on(point, hook);
            }
        }
        let defaulted = |point: &HookPoint| DEFAULT_HOOKS.iter().any(|(other, _)| other == point);
        for (point, hooks) in overrides.iter().filter(|(point, _)| !defaulted(point)) {
            for hook in hooks {
                bus.on(*point, hook);
            }
        }
        Ok(bus)
    }

    /// [`DEFAULT_HOOKS`] with their handlers.
    pub fn defaults(&self) -> Vec<(HookPoint, Vec<Hook>)> {
        let hooks = |names: &[&str]| {
            names
                .iter()
                .map(|name| self.builtins[name].clone())
                .collect()
        };
        DEFAULT_HOOKS
            .iter()
            .map(|(point, names)| (*point, hooks(names)))
            .collect()
    }
}

impl Default for Loader {
    fn default() -> Self {
        Self::new()
    }
}

fn unbound(name: &'static str) -> Hook {
    let hook = Hook::sync(&format!("builtin:{name}"), move |_| {
        let name = name.to_owned();
        Err(HandlerFailure::failed(BuiltinUnbound { name }))
    });
    match hook {
        Ok(hook) => hook,
        Err(refused) => unreachable!("the name of a built-in handler is a name: {refused}"),
    }
}
