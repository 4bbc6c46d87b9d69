"""A client of `arbiterd`, the lock of user interface transitions.

    from transition_arbiter import Arbiter

    with Arbiter(client="kiosk") as arbiter:
        with arbiter.scene("main").transition() as transition:
            animate(transition.fence)
"""

from . import operations
from ._aio import AsyncArbiter, AsyncScene, AsyncTransition
from ._events import Event
from ._flows import TransitionOptions
from ._sync import Arbiter, Scene, Transition
from .errors import ArbiterError, Refused, TimedOut, TransitionEnded, Unreachable

__all__ = [
    "Arbiter", "ArbiterError", "AsyncArbiter", "AsyncScene", "AsyncTransition", "Event", "Refused", "Scene", "TimedOut",
    "Transition", "TransitionEnded", "TransitionOptions", "Unreachable", "operations",
]
