"""One file for each dispatcher: what the operations of a script mean on it."""

from ..profile import Profile
from .broadcaster import BroadcasterProfile
from .hook_bus import HookBusProfile
from .loader import LoaderProfile
from .message_added import MessageAddedAsync, MessageAddedSync
from .scheduler_signal_bus import SchedulerSignalBusProfile
from .service_hooks import ServiceHooksProfile
from .session_observer import SessionObserverProfile
from .terminal_callbacks import TerminalCallbacksProfile
from .tool_hooks import ToolHooksProfile

PROFILES: dict[str, type[Profile]] = {
    "hookbus_blocking": HookBusProfile,
    "hookbus_observational": HookBusProfile,
    "session_observer": SessionObserverProfile,
    "broadcaster": BroadcasterProfile,
    "message_added_sync": MessageAddedSync,
    "message_added_async": MessageAddedAsync,
    "scheduler_signal_bus": SchedulerSignalBusProfile,
    "terminal_callbacks": TerminalCallbacksProfile,
    "service_hook_registry": ServiceHooksProfile,
    "tool_hooks": ToolHooksProfile,
    "loader": LoaderProfile,
}
