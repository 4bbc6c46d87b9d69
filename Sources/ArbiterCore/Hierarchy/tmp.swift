extension Hierarchy { mutating func introduce(_ controller: ControllerID, by type: TransitionTypeName?) {} }
