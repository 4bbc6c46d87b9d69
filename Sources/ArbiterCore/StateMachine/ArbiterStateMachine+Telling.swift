// The events of scenes, which event streams show.

extension ArbiterStateMachine {
    /// Publishes that a transition has reached a stage of its life.
    mutating func tell(_ stage: SceneEvent.Stage, _ transition: Transition, in step: inout Step) {
        publish(.transition(stage, view(of: transition, at: step.now)), in: transition.request.scene, &step)
    }

    /// Publishes appearance events of a transition's views.
    mutating func tell(_ appearance: [AppearanceEvent], of transition: Transition, in step: inout Step) {
        for event in appearance {
            publish(.appearance(event, transition.id), in: transition.request.scene, &step)
        }
    }

    /// Publishes an event of a scene under the next numbers.
    mutating func publish(_ kind: SceneEvent.Kind, in scene: SceneName, _ step: inout Step) {
        guard let last = durable.scenes[scene]?.numbers.event else { return }
        let number = EventNumber(rawValue: last.rawValue + 1)
        durable.scenes[scene]?.numbers.event = number
        durable.lastEvent = EventNumber(rawValue: durable.lastEvent.rawValue + 1)
        step.add(
            .publish(
                SceneEvent(
                    scene: scene, number: number, overall: durable.lastEvent, timestamp: step.moment.timestamp,
                    kind: kind)))
    }
}
