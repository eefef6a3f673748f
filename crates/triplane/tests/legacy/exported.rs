//! The names that people know stand at the root of the crate.

#[expect(deprecated, reason = "the old name is kept for its users")]
use triplane::Broadcaster;
use triplane::{
    DEFAULT_HOOKS, DORMANT_POINTS, HookBus, HookPoint, HookSignal, Loader, MessageManager,
    RunTerminalEnvelope, SchedulerHandlerCancelled, SchedulerSignalBus, SessionObserver,
    SignalClass, StopHook, TerminalCallbackRegistry, hook, lane_for, legacy,
};

use crate::page::text;

#[test]
#[expect(deprecated, reason = "the old name is kept for its users")]
fn the_root_exports_the_same_items_as_the_room_of_the_old_names() {
    fn same<T>(_: fn(T), _: fn(T)) {}
    same(|_: HookPoint| {}, |_: legacy::HookPoint| {});
    same(|_: HookBus| {}, |_: legacy::HookBus| {});
    same(|_: HookSignal| {}, |_: legacy::HookSignal| {});
    same(|_: StopHook| {}, |_: legacy::StopHook| {});
    same(|_: Broadcaster| {}, |_: legacy::Broadcaster| {});
    same(|_: SessionObserver| {}, |_: legacy::SessionObserver| {});
    same(|_: MessageManager| {}, |_: legacy::MessageManager| {});
    same(
        |_: SchedulerSignalBus| {},
        |_: legacy::SchedulerSignalBus| {},
    );
    same(
        |_: SchedulerHandlerCancelled| {},
        |_: legacy::SchedulerHandlerCancelled| {},
    );
    same(
        |_: TerminalCallbackRegistry| {},
        |_: legacy::TerminalCallbackRegistry| {},
    );
    same(
        |_: RunTerminalEnvelope| {},
        |_: legacy::RunTerminalEnvelope| {},
    );
    same(|_: Loader| {}, |_: legacy::Loader| {});
    assert_eq!(HookPoint::ALL.len(), 13);
    assert_eq!(DORMANT_POINTS, legacy::DORMANT_POINTS);
    assert_eq!(DEFAULT_HOOKS, legacy::DEFAULT_HOOKS);
    let started = legacy::Signal::new(SignalClass::NodeStarted);
    let lane = lane_for([&std::sync::Arc::new(started)]);
    assert_eq!(lane, triplane::Lane::Running);
    let tagged = legacy::Hook::sync("tagged", |_| Ok(legacy::Value::Null)).unwrap();
    assert!(hook(HookPoint::ToolPre, &tagged).hook.is(&tagged));
}

/// Each main name says in its documentation which plane it belongs to and where to move.
#[test]
fn every_main_name_says_its_plane_and_its_new_name() {
    for (file, item) in [
        ("hook_point", "pub enum HookPoint {"),
        ("hook_bus", "pub struct HookBus {"),
        ("hook_signal", "pub struct HookSignal {"),
        ("session_observer", "pub struct SessionObserver {"),
        ("broadcaster", "pub struct Broadcaster {"),
        ("message_manager", "pub struct MessageManager {"),
        ("scheduler_signal_bus", "pub struct SchedulerSignalBus {"),
        (
            "scheduler_signal_bus",
            "pub struct SchedulerHandlerCancelled {",
        ),
        (
            "terminal_callbacks",
            "pub struct TerminalCallbackRegistry {",
        ),
        ("terminal_callbacks", "pub struct RunTerminalEnvelope {"),
        ("loader", "pub struct Loader {"),
        ("error", "pub struct StopHook {"),
        ("hook_bus", "pub fn hook("),
        ("hook_point", "pub const DORMANT_POINTS"),
        ("loader", "pub const DEFAULT_HOOKS"),
        ("signal", "pub fn lane_for<"),
        ("value", "pub struct Signal {"),
    ] {
        let source = text(format!("crates/triplane/src/legacy/{file}.rs"));
        let (before, _) = source.split_once(item).expect(item);
        let docs: Vec<_> = before
            .lines()
            .rev()
            .map(str::trim)
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty() && *line != "}")
            .filter(|line| line.starts_with("///"))
            .collect();
        let docs = docs.concat();
        assert!(docs.contains("plane:"), "{item} says no plane: {docs}");
        let moves =
            docs.contains("Move ") || docs.contains("new name") || docs.contains("to move to");
        assert!(moves, "{item} names nothing new: {docs}");
    }
}
