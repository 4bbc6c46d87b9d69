import Testing

@testable import ArbiterHTTP

struct MediaTypeTests {
    @Test(arguments: [
        "application/json", "Application/Json", " application/json ", "application/json;charset=utf-8",
        "application/json; charset=UTF-8", "application/json ; charset = \"utf-8\"", "application/json; profile=x",
        "application/json;", "application/json;\tcharset=utf-8; a=b", "application/merge-patch+json",
        "Application/Problem+JSON; charset=utf-8", "model/gltf+json",
    ])
    func `this is JSON in UTF-8`(type: String) {
        #expect(MediaType.isJSON(type))
    }

    @Test(arguments: [
        "", ";", "json", "application", "application/", "application/json5", "application/json+xml", "text/json",
        "application/json, text/plain", "application /json", "*/*", "application/json;charset=utf-16",
        "application/json;charset=", "application/json;charset", "application/json;a=b;charset=latin1",
        "application/merge-patch+json;charset=latin1", "+json", "text+json", "/+json", "text/plain, a/b+json",
        "application//a+json", "application/x\t+json", "application/(x)+json", "application/é+json",
        "application/+json",
    ])
    func `this is not JSON in UTF-8`(type: String) {
        #expect(!MediaType.isJSON(type))
    }

    @Test(arguments: [
        "application/json", "application/json;q=0.1", "application/*", "*/*", "text/html,*/*;q=0.1",
        "text/html , application/json ; q=1", "APPLICATION/JSON", "application/*;q=0, application/json",
        "*/*;q=0, application/*", "*/*;q=0.000, application/json;q=0.001", "application/json;charset=utf-8",
    ])
    func `this accepts JSON`(accept: String) {
        #expect(MediaType.accepts(accept, "application/json"))
    }

    @Test(arguments: [
        "text/html", "text/*", "application/yaml", "application/json;q=0", "application/json; q=0.0",
        "application/json; Q=0.000", "*/*;q=0", "application/*;q=0, */*", "*/*, application/json;q=0", "json",
        "application/jso*", "*",
    ])
    func `this does not accept JSON`(accept: String) {
        #expect(!MediaType.accepts(accept, "application/json"))
    }
}
