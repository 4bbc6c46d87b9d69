// What is told to whoever follows a scene.

extension ArbiterStateMachine {
    /// Tells that a transition has come to another point of its life.
    mutating func tell(_ stage: SceneEvent.Stage, _ transition: Transition, in step: inout Step) {
        publish(.transition(stage, view(of: transition, at: step.now)), in: transition.request.scene, &step)
    }

    /// Tells what the views of a transition's operation are told.
    mutating func tell(_ appearance: [AppearanceEvent], of transition: Transition, in step: inout Step) {
        for event in appearance {
            publish(.appearance(event, transition.id), in: transition.request.scene, &step)
        }
    }

    mutating func publish(_ kind: SceneEvent.Kind, in scene: SceneName, _ step: inout Step) {
        guard let last = durable.scenes[scene]?.numbers.event else { return }
        let number = EventNumber(rawValue: last.rawValue + 1)
        durable.scenes[scene]?.numbers.event = number
        durable.lastEvent = EventNumber(rawValue: durable.lastEvent.rawValue + 1)
        step.effects.append(
            .publish(
                SceneEvent(
                    scene: scene, number: number, overall: durable.lastEvent, timestamp: step.moment.timestamp,
                    kind: kind)))
    }
}
