"""Works with the daemon through the client that openapi-python-client makes of openapi.yaml, and through nothing else."""

import itertools
import json
import re
import threading
import urllib.parse
from datetime import datetime, timedelta

import arbiter_client.models as models
from arbiter_client import Client
from arbiter_client.api.description import describe_in_yaml
from arbiter_client.api.operations import check_readiness
from arbiter_client.api.scenes import (
    declare_storyboard,
    delete_scene,
    follow_all_scenes,
    list_scenes,
    show_scene,
    show_storyboard,
)
from arbiter_client.api.sessions import end_session, open_session, renew_session
from arbiter_client.api.transitions import (
    await_transition,
    end_transition,
    list_transitions,
    progress_transition,
    ready_for_transition,
    release_transition,
    renew_transition,
    revoke_transition,
    serialize_transition,
    show_transition,
    start_transition,
    watch_transition,
)
from arbiter_client.models import (
    EndOutcome,
    GestureDecision,
    InteractionPhase,
    Problem,
    ProblemCode,
    Scene,
    ScopeWord,
    Session,
    Storyboard,
    Transition,
    TransitionOutcome,
    TransitionState,
    TransitionSummary,
)
from arbiter_client.types import UNSET

# Tests don't share scenes.
numbers = itertools.count(1)


def new_scene() -> str:
    return f"scene-{next(numbers)}"


def start(client: Client, scene: str, /, **members) -> Transition:
    answer = start_transition.sync_detailed(client=client, body=models.StartRequest(scene=scene, **members))
    assert answer.status_code == 201
    assert isinstance(answer.parsed, Transition)
    return answer.parsed


def serialize(client: Client, scene: str, /, **members) -> Transition:
    answer = serialize_transition.sync(client=client, body=models.SerializeRequest(scene=scene, **members))
    assert isinstance(answer, Transition)
    return answer


def end(client: Client, transition: Transition, /, **members) -> Transition | Problem | None:
    request = models.EndRequest(id=transition.id, token=transition.token, **members)
    return end_transition.sync(client=client, body=request)


def expect_problem(answer: object, status: int, code: ProblemCode) -> Problem:
    assert isinstance(answer, Problem)
    assert (answer.status, answer.code) == (status, code)
    assert answer.type_ == f"urn:arbiter:problem:{code.value}"
    assert answer.title and answer.detail
    return answer


# What stands in the way


def test_a_start_without_a_body_takes_the_scene_main(client: Client) -> None:
    transition = start_transition.sync(client=client)
    assert isinstance(transition, Transition)
    assert (transition.scene, transition.state) == ("main", TransitionState.RUNNING)
    assert end(client, transition).state is TransitionState.ENDED


def test_a_start_is_granted_and_completed(client: Client) -> None:
    scene = new_scene()
    transition = start(client, scene, client="detail", lease_seconds=20)
    assert (transition.scene, transition.client, transition.scope) == (scene, "detail", ScopeWord.SCENE)
    assert transition.state is TransitionState.RUNNING
    assert len(transition.token) == 32
    assert transition.fence >= 1
    assert 0 < transition.lease_remaining <= transition.lease_seconds == 20
    assert isinstance(transition.granted_at, datetime)
    assert (transition.outcome, transition.ended_at) == (UNSET, UNSET)

    ended = end(client, transition)
    assert isinstance(ended, Transition)
    assert (ended.id, ended.state) == (transition.id, TransitionState.ENDED)
    assert ended.outcome is TransitionOutcome.COMPLETED
    assert timedelta(0) <= ended.ended_at - transition.granted_at < timedelta(seconds=20)
    assert ended.token is UNSET


def test_a_start_in_the_way_is_told_who_holds_the_scene(client: Client) -> None:
    scene = new_scene()
    holder = start(client, scene, client="detail")
    answer = start_transition.sync(client=client, body=models.StartRequest(scene=scene))
    problem = expect_problem(answer, 409, ProblemCode.BUSY)
    assert (problem.holder.id, problem.holder.client) == (holder.id, "detail")
    assert problem.holder.state is TransitionState.RUNNING
    assert problem.holder.since == holder.granted_at
    assert problem.blockers == [holder.id]


def test_a_dry_run_tells_and_takes_nothing(client: Client) -> None:
    scene = new_scene()
    request = models.StartRequest(scene=scene, operation=models.SetRootOperation(
        type_="setRoot", controller=models.ViewNode(id="home")))
    tried = start_transition.sync(client=client, body=request, dry_run=True)
    assert isinstance(tried, models.DryRun)
    assert (tried.would_run, tried.blockers, tried.reason) == (True, [], UNSET)
    assert (tried.inserted, tried.removed) == (["home"], [])
    assert [(view.controller, view.event) for view in tried.appearance] == [
        ("home", models.AppearanceChange.WILLAPPEAR), ("home", models.AppearanceChange.DIDAPPEAR)]
    expect_problem(show_scene.sync(scene, client=client), 404, ProblemCode.UNKNOWN_SCENE)

    holder = start(client, scene)
    behind = serialize_transition.sync(client=client, body=models.SerializeRequest(scene=scene), dry_run=True)
    assert isinstance(behind, models.DryRun)
    assert (behind.would_run, behind.reason) == (False, models.DryRunReason.BUSY)
    assert behind.blockers == [holder.id]


def test_a_ticket_waits_and_is_granted(client: Client) -> None:
    scene = new_scene()
    holder = start(client, scene)
    ticket = serialize(client, scene, client="master", wait=0.05)
    assert (ticket.state, ticket.position, ticket.blockers) == (TransitionState.QUEUED, 1, [holder.id])
    assert ticket.fence is UNSET

    granted: list[object] = []

    def wait() -> None:
        request = models.AwaitRequest(id=ticket.id, token=ticket.token, wait=10)
        granted.append(await_transition.sync(client=client, body=request))

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert end(client, holder).state is TransitionState.ENDED
    waiting.join()
    assert isinstance(granted[0], Transition)
    assert (granted[0].id, granted[0].state) == (ticket.id, TransitionState.RUNNING)
    assert granted[0].fence == holder.fence + 1
    assert end(client, ticket, outcome=EndOutcome.CANCELLED).outcome is TransitionOutcome.CANCELLED

    watched = watch_transition.sync(client=client, id=ticket.id, until=models.Milestone.ENDED, wait=0)
    assert watched.outcome is TransitionOutcome.CANCELLED


def test_a_ticket_that_waited_long_enough_expires_with_a_reason(client: Client) -> None:
    scene = new_scene()
    start(client, scene)
    ticket = serialize(client, scene, queue_seconds=0.05, wait=10)
    assert (ticket.state, ticket.outcome) == (TransitionState.ENDED, TransitionOutcome.EXPIRED)
    assert ticket.reason == "queue-timeout"
    problem = expect_problem(end(client, ticket), 410, ProblemCode.EXPIRED)
    assert isinstance(problem.transition, TransitionSummary)
    assert problem.transition.reason == "queue-timeout"


def test_a_renewed_lease_is_full_again(client: Client) -> None:
    transition = start(client, new_scene(), lease_seconds=30)
    renewed = renew_transition.sync(
        client=client, body=models.RenewRequest(id=transition.id, token=transition.token))
    assert renewed.lease_remaining == 30


def test_a_list_shows_typed_transitions(client: Client) -> None:
    scene = new_scene()
    holder, ticket = start(client, scene), serialize(client, scene)
    queued = list_transitions.sync(client=client, scene=scene, state=TransitionState.QUEUED)
    assert [(transition.id, transition.position) for transition in queued.transitions] == [(ticket.id, 1)]
    listed = list_transitions.sync(client=client, scene=scene, limit=10)
    assert [transition.id for transition in listed.transitions] == [holder.id, ticket.id]


def test_a_list_leads_from_page_to_page(client: Client) -> None:
    scene = new_scene()
    asked = [start(client, scene).id] + [serialize(client, scene).id for _ in range(4)]
    page = list_transitions.sync_detailed(client=client, scene=scene, limit=2)
    seen = [transition.id for transition in page.parsed.transitions]
    while link := page.headers.get("Link"):
        target = re.fullmatch(r'</transitions\?(.+)>; rel="next"', link)
        query = dict(urllib.parse.parse_qsl(target[1]))
        assert (query["scene"], query["limit"]) == (scene, "2")
        page = list_transitions.sync_detailed(client=client, scene=scene, limit=2, after=query["after"])
        seen = [transition.id for transition in page.parsed.transitions] + seen
    assert seen == asked


def test_a_wrong_token_and_an_unknown_transition_are_problems(client: Client) -> None:
    transition = start(client, new_scene())
    stranger = models.RenewRequest(id=transition.id, token="0" * 32)
    problem = expect_problem(renew_transition.sync(client=client, body=stranger), 403, ProblemCode.WRONG_TOKEN)
    assert problem.field == "token"
    unknown = show_transition.sync("t-000000000000a", client=client)
    expect_problem(unknown, 404, ProblemCode.UNKNOWN_TRANSITION)


# Gestures


def test_a_gesture_is_driven_released_and_ended(client: Client) -> None:
    policy = models.FractionPolicy(by="fraction", threshold=0.25)
    transition = start(
        client, new_scene(), interactive=True, policy=policy, animation=models.AnimationRequest(duration=0.5))
    assert transition.interactive is True
    assert isinstance(transition.policy, models.FractionPolicy)
    assert transition.policy.threshold == 0.25
    assert transition.interaction.phase is InteractionPhase.BEGAN
    assert transition.animation.duration == 0.5

    moved = progress_transition.sync(client=client, body=models.ProgressRequest(
        id=transition.id, token=transition.token, fraction=0.5, velocity=1.5, sequence=2))
    assert isinstance(moved, Transition)
    assert moved.applied is True
    assert (moved.interaction.fraction, moved.interaction.velocity) == (0.5, 1.5)
    late = progress_transition.sync(client=client, body=models.ProgressRequest(
        id=transition.id, token=transition.token, fraction=0.1, sequence=1))
    assert late.applied is False
    assert late.interaction.fraction == 0.5

    released = release_transition.sync(
        client=client, body=models.ReleaseRequest(id=transition.id, token=transition.token))
    assert isinstance(released, Transition)
    assert released.decision is GestureDecision.FINISH
    assert released.remaining == 0.25
    assert released.interaction.decision is GestureDecision.FINISH
    assert released.state is TransitionState.RUNNING

    ended = end(client, transition)
    assert ended.outcome is TransitionOutcome.COMPLETED
    assert ended.interaction.phase is InteractionPhase.RELEASED


def test_an_end_may_not_contradict_the_decision(client: Client) -> None:
    transition = start(client, new_scene(), interactive=True, policy=models.VelocityPolicy(by="velocity"))
    released = release_transition.sync(client=client, body=models.ReleaseRequest(
        id=transition.id, token=transition.token, decision=GestureDecision.CANCEL))
    assert released.decision is GestureDecision.CANCEL
    problem = expect_problem(
        end(client, transition, outcome=EndOutcome.COMPLETED), 409, ProblemCode.ALREADY_DECIDED)
    assert problem.transition.interaction.decision is GestureDecision.CANCEL


def test_an_end_without_an_outcome_does_what_was_decided(client: Client) -> None:
    transition = start(client, new_scene(), interactive=True)
    release_transition.sync(client=client, body=models.ReleaseRequest(
        id=transition.id, token=transition.token, cancelled=True))
    ended = end(client, transition)
    assert isinstance(ended, Transition)
    assert ended.outcome is TransitionOutcome.CANCELLED


# Sessions and participants


def test_a_session_takes_what_is_bound_to_it_along(client: Client) -> None:
    session = open_session.sync(client=client, body=models.SessionRequest(client="master", ttl_seconds=5))
    assert isinstance(session, Session)
    assert (session.client, session.ttl_seconds, session.remaining) == ("master", 5, 5)
    bound = start_transition.sync(
        client=client, body=models.StartRequest(scene=new_scene()), arbiter_session=session.token)
    assert bound.session == session.id
    renewed = renew_session.sync(client=client, arbiter_session=session.token)
    assert (renewed.id, renewed.remaining, renewed.token) == (session.id, 5, UNSET)
    ended = end_session.sync(client=client, arbiter_session=session.token)
    assert ended.remaining == 0
    lost = show_transition.sync(bound.id, client=client)
    assert (lost.outcome, lost.reason) == (TransitionOutcome.EXPIRED, "session-lost")
    expect_problem(renew_session.sync(client=client, arbiter_session=session.token), 401, ProblemCode.UNAUTHENTICATED)


def test_a_transition_runs_when_its_participants_are_ready(client: Client) -> None:
    session = open_session.sync(client=client, body=models.SessionRequest(client="master"))
    transition = start(
        client, new_scene(), participants=["master", models.NamedParticipant(client="clock", required=False)],
        ready_seconds=20, on_unready=models.UnreadyAction.ABORT)
    assert transition.state is TransitionState.PREPARING
    assert [(participant.client, participant.required) for participant in transition.participants] == [
        ("master", True), ("clock", False)]
    ready = ready_for_transition.sync(
        client=client, body=models.ReadyRequest(id=transition.id, client="master"), arbiter_session=session.token)
    assert ready.state is TransitionState.RUNNING
    assert ready.participants[0].state is models.ParticipantState.READY
    assert ready.laggards == []


# Scenes


def test_a_storyboard_is_declared_and_changed_by_a_push(client: Client) -> None:
    scene = new_scene()
    storyboard = Storyboard(
        root=models.NavigationNode(id="nav", kind="navigation", children=["list"]),
        segues=[models.Segue(
            identifier="edit", source="list", kind=models.SegueKind.SHOW, destination=models.ViewNode(id="editor"))],
        transition_types=[models.TransitionType(name="star", duration=1, curve=models.AnimationCurve.LINEAR)],
        defaults=models.Defaults(duration=0.25, lease_seconds=5, scope=models.DefaultScope.OPERATION))
    declared = declare_storyboard.sync(scene, client=client, body=storyboard)
    assert (declared.name, declared.revision) == (scene, 1)

    push = models.PushOperation(type_="push", navigation="nav", controller=models.ViewNode(id="editor"))
    transition = start(
        client, scene, operation=push, animation=models.AnimationRequest(type_="star"),
        expect=models.ControllerExpectation(controller="list", is_=models.Condition.TOP))
    assert isinstance(transition.operation, models.PushOperation)
    assert isinstance(transition.operation.controller, models.ViewNode)
    assert isinstance(transition.expect[0], models.ControllerExpectation)
    assert transition.expect[0].is_ is models.Condition.TOP
    assert transition.lease_seconds == 5
    assert transition.scope is ScopeWord.OPERATION
    assert [(view.controller, view.event) for view in transition.appearance] == [
        ("list", models.AppearanceChange.WILLDISAPPEAR), ("editor", models.AppearanceChange.WILLAPPEAR)]
    ended = end(client, transition)
    assert (ended.revision, ended.inserted, ended.removed) == (2, ["editor"], [])

    shown = show_storyboard.sync(scene, client=client)
    assert isinstance(shown, Storyboard)
    assert isinstance(shown.root, models.NavigationNode)
    assert [child.id for child in shown.root.children] == ["list", "editor"]
    assert shown.root.children[1].intro_transition_type == "star"
    assert isinstance(shown.segues[0].destination, models.ViewNode)
    assert shown.defaults.curve is models.DefaultCurve.EASEINOUT

    refused = start_transition.sync(client=client, body=models.StartRequest(
        scene=scene, expect=[models.RevisionExpectation(revision=1)]))
    problem = expect_problem(refused, 412, ProblemCode.EXPECTATION_FAILED)
    assert problem.field == "expect"


def test_every_kind_of_controller_is_told_by_its_kind(client: Client) -> None:
    scene = new_scene()
    root = models.SplitNode(
        id="split", kind="split",
        primary=models.NavigationNode(id="masters", kind="navigation", children=[models.ViewNode(id="list")]),
        secondary=models.TabsNode(id="tabs", kind="tabs", children=["first", "second"], selected=1),
        presented=models.ViewNode(id="sheet", presentation_style=models.PresentationStyle.FORMSHEET))
    declare_storyboard.sync(scene, client=client, body=Storyboard(root=root))
    hierarchy = show_scene.sync(scene, client=client).hierarchy
    assert isinstance(hierarchy, models.SplitNode)
    assert isinstance(hierarchy.primary, models.NavigationNode)
    assert isinstance(hierarchy.secondary, models.TabsNode)
    assert hierarchy.secondary.selected == 1
    assert isinstance(hierarchy.presented, models.ViewNode)
    assert hierarchy.presented.presentation_style is models.PresentationStyle.FORMSHEET


def test_scenes_are_listed_shown_and_forgotten(client: Client) -> None:
    scene = new_scene()
    holder, ticket = start(client, scene), serialize(client, scene, scope=ScopeWord.SCENE)
    summary = next(each for each in list_scenes.sync(client=client).scenes if each.name == scene)
    assert (summary.running_count, summary.queued_count) == (1, 1)
    shown = show_scene.sync(scene, client=client)
    assert isinstance(shown, Scene)
    assert ([each.id for each in shown.running], [each.id for each in shown.queue]) == ([holder.id], [ticket.id])
    assert shown.limits.lease_seconds == 300
    assert delete_scene.sync(scene, client=client).code is ProblemCode.BUSY
    end(client, ticket, outcome=EndOutcome.CANCELLED)
    end(client, holder)
    assert delete_scene.sync_detailed(scene, client=client).status_code == 204
    expect_problem(show_scene.sync(scene, client=client), 404, ProblemCode.UNKNOWN_SCENE)


# What an administrator does


def test_a_revoked_transition_says_why(client: Client) -> None:
    transition = start(client, new_scene())
    reason = "The display was replaced"
    revoked = revoke_transition.sync(client=client, body=models.RevokeRequest(id=transition.id, reason=reason))
    assert isinstance(revoked, Transition)
    assert (revoked.state, revoked.outcome) == (TransitionState.ENDED, TransitionOutcome.REVOKED)
    assert revoked.reason == reason
    again = revoke_transition.sync(client=client, body=models.RevokeRequest(id=transition.id, reason="Another"))
    assert again.reason == reason
    problem = expect_problem(end(client, transition), 410, ProblemCode.REVOKED)
    assert problem.transition.reason == reason


def test_what_its_owner_ended_cannot_be_revoked(client: Client) -> None:
    transition = start(client, new_scene())
    end(client, transition)
    answer = revoke_transition.sync(client=client, body=models.RevokeRequest(id=transition.id, reason="Late"))
    problem = expect_problem(answer, 409, ProblemCode.ALREADY_ENDED)
    assert problem.transition.outcome is TransitionOutcome.COMPLETED


def test_the_daemon_is_ready_and_describes_itself(client: Client) -> None:
    assert check_readiness.sync(client=client).status == "ready"
    description = describe_in_yaml.sync(client=client)
    assert isinstance(description, str)
    assert description.startswith("openapi:")


# Events


def test_a_cursor_that_is_none_is_refused(client: Client) -> None:
    problem = expect_problem(follow_all_scenes.sync(client=client, since="no:cursor"), 400, ProblemCode.INVALID_FIELD)
    assert problem.field == "since"


def test_events_are_what_their_schemas_say(client: Client) -> None:
    scene = new_scene()
    declare_storyboard.sync(scene, client=client, body=Storyboard(
        root=models.NavigationNode(id="nav", kind="navigation", children=["list"])))
    events: list[tuple[str, str]] = []
    # The client knows the data of events, and reads no streams; the connection is its own.
    with client.get_httpx_client().stream("GET", f"/scenes/{scene}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        push = models.PushOperation(type_="push", navigation="nav", controller="editor")
        transition = start(client, scene, operation=push)
        end(client, transition)
        name = ""
        for line in lines:
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((name, line.removeprefix("data: ")))
                if name == "hierarchy.changed":
                    break
    data = {name: json.loads(text) for name, text in events}
    running = models.TransitionEvent.from_dict(data["transition.running"])
    assert (running.id, running.scene, running.state) == (transition.id, scene, TransitionState.RUNNING)
    assert isinstance(running.operation, models.OperationSummary)
    assert (running.operation.controller, running.operation.controller_count) == ("editor", 1)
    appeared = models.AppearanceEvent.from_dict(data["controller.willAppear"])
    assert (appeared.controller, appeared.transition) == ("editor", transition.id)
    changed = models.HierarchyChangedEvent.from_dict(data["hierarchy.changed"])
    assert (changed.scene, changed.revision, changed.inserted) == (scene, 2, ["editor"])
    assert running.number < appeared.number < changed.number
