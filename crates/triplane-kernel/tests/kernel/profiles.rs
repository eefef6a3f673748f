//! The named profiles, pinned byte for byte.

use triplane_kernel::declare::SnapshotEnvelope;
use triplane_kernel::profile::ProfileName;

fn check(profile: ProfileName, wanted: &str, digest: &str) {
    let snapshot: SnapshotEnvelope = profile.snapshot();
    let text = String::from_utf8(snapshot.canonical_bytes()).unwrap();
    assert_eq!(text, wanted, "{}", profile.as_str());
    assert_eq!(
        snapshot.digest().to_string(),
        format!("sha256-v1:{digest}"),
        "{}",
        profile.as_str()
    );
}
#[test]
fn every_profile_is_the_value_that_the_record_pins() {
    check(
        ProfileName::HookbusBlocking,
        r#"{"contract_version":"1","domain":"triplane.stage_order","payload":{"stages":[{"name":"hook","on_failure":"propagate"}]}}"#,
        "6cf52f207911e4030c952802795fc2efde246b9f46390a0f49d8680950b7de81",
    );
    check(
        ProfileName::HookbusObservational,
        r#"{"contract_version":"1","domain":"triplane.stage_order","payload":{"stages":[{"name":"hook","on_failure":"isolate"}]}}"#,
        "43e509115aeeeded73fa839134dc60411ef7753f065a5db5ab9a3950713796b0",
    );
    check(
        ProfileName::Broadcaster,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"sequential","handler_classification":"by_return_value","invocation":{"completion":"await_all","error_surface":"log_only","failure":"isolate","handler_cancellation":"propagate"},"predicate_failure":"propagate","returned_awaitable":"await_in_invocation","returned_value_classifier":"asyncio_coroutine_only","selector":"all","sync_entry":"unavailable","sync_handlers":"inline"}],"preserve_registration_order":true}}"#,
        "b6e0ae748816e5eaa1adc05d1ae728a8af103b316c83b6fcb14d7d29eaa837be",
    );
    check(
        ProfileName::SessionObserver,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"sequential","handler_classification":"by_return_value","invocation":{"completion":"stop_on_failure","error_surface":"raise_first","failure":"propagate","handler_cancellation":"propagate"},"predicate_failure":"no_match","returned_awaitable":"gather_after_invocations","returned_awaitables":{"completion":"cancel_remaining_on_failure","error_surface":"unwrap_single_else_group","failure":"collect","handler_cancellation":"collect"},"returned_value_classifier":"inspect_awaitable","selector":"all","sync_entry":"unavailable","sync_handlers":"inline"}],"preserve_registration_order":true}}"#,
        "f3c1d1764f00de25fb76f8e8a10bdc93c9b75d1c7affa2dff1c35d684d9a24ee",
    );
    check(
        ProfileName::MessageAddedSync,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"sequential","handler_classification":"by_declaration","invocation":{"completion":"await_all","error_surface":"unwrap_single_else_group","failure":"collect","handler_cancellation":"collect"},"predicate_failure":"collect_as_handler_failure","returned_awaitable":"discard_unawaited","returned_value_classifier":"not_inspected","selector":"all","sync_entry":"reject_declared_async_before_owner_effect","sync_handlers":"inline"}],"preserve_registration_order":true}}"#,
        "81fa337164da2b8202be5551b10205efc5c88809d22a04ea2050d997d16845de",
    );
    check(
        ProfileName::MessageAddedAsync,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"sequential","handler_classification":"by_declaration","invocation":{"completion":"await_all","error_surface":"unwrap_single_else_group","failure":"collect","handler_cancellation":"collect"},"predicate_failure":"collect_as_handler_failure","returned_awaitable":"discard_unawaited","returned_value_classifier":"not_inspected","selector":"all","sync_entry":"unavailable","sync_handlers":"inline"}],"preserve_registration_order":true}}"#,
        "db1f3e68e4bdc27f2c57ada695a153050103d3182da0b8380b2433659a6dbeb0",
    );
    check(
        ProfileName::SchedulerSignalBus,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"concurrent","handler_classification":"by_return_value","invocation":{"completion":"await_all","error_surface":"raise_group","failure":"collect","handler_cancellation":"translate"},"predicate_failure":"collect_as_handler_failure","returned_awaitable":"await_in_invocation","returned_value_classifier":"inspect_awaitable","selector":"all","sync_entry":"unavailable","sync_handlers":"inline"}],"preserve_registration_order":true}}"#,
        "bdd69ab1b0d4080fa05369b7621dba7d36096ab94ce87c44cd2754c5250da972",
    );
    check(
        ProfileName::TerminalCallbacks,
        r#"{"contract_version":"1","domain":"triplane.dispatch_policy","payload":{"phases":[{"concurrency":"concurrent","deadline_disposition":"silent_stop","deadline_seconds":10,"handler_classification":"by_declaration","invocation":{"completion":"await_all","error_surface":"log_only","failure":"isolate","handler_cancellation":"propagate"},"predicate_failure":"propagate","returned_awaitable":"await_in_invocation","returned_value_classifier":"inspect_awaitable","selector":"all","sync_entry":"unavailable","sync_handlers":"offload"}],"preserve_registration_order":true}}"#,
        "bcf92b0aeabeb362b118e8d1e4c36d298b7d5e115eddc03bb41bd58473cc281b",
    );
}
