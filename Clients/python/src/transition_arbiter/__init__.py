"""A client of `arbiterd`, the lock of user interface transitions.

    from transition_arbiter import Arbiter

    with Arbiter(client="kiosk") as arbiter:
        with arbiter.scene("main").transition() as transition:
            animate(transition.fence)
"""

from . import operations
from ._aio import AsyncArbiter, AsyncScene, AsyncTransition
from ._aio_gestures import AsyncInteractiveTransition
from ._aio_hierarchy import AsyncHierarchy
from ._events import Event
from ._flows import TransitionOptions
from ._hierarchy import HierarchySnapshot, Node
from ._lock import AsyncTransitionLock, TransitionLock
from ._sync import Arbiter, Scene, Transition
from ._sync_gestures import InteractiveTransition
from ._sync_hierarchy import Hierarchy
from .errors import ArbiterError, BlockedBySelf, Closed, Refused, TimedOut, TransitionEnded, Unreachable

__all__ = [
    "Arbiter", "ArbiterError", "AsyncArbiter", "AsyncHierarchy", "AsyncInteractiveTransition", "AsyncScene", "AsyncTransition",
    "AsyncTransitionLock", "BlockedBySelf", "Closed", "Event", "Hierarchy", "HierarchySnapshot", "InteractiveTransition", "Node",
    "Refused", "Scene", "TimedOut", "Transition", "TransitionEnded", "TransitionLock", "TransitionOptions", "Unreachable", "operations",
]
