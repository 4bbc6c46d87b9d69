// The files that the daemon serves, inside the program. `#embed` (C23) makes constants of them in a moment, and the compiler
// notices when one of them has changed.
#include "CResources.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char openapi_yaml[] = {
#embed "../../openapi.yaml"
};

static const unsigned char client_js[] = {
#embed "../../Clients/javascript/client.js"
};

static const unsigned char client_d_ts[] = {
#embed "../../Clients/javascript/client.d.ts"
};

static const unsigned char page_html[] = {
#embed "../ArbiterHTTP/Page/page.html"
};

static const unsigned char page_css[] = {
#embed "../ArbiterHTTP/Page/page.css"
};

static const unsigned char page_js[] = {
#embed "../ArbiterHTTP/Page/page.js"
};

static const unsigned char actions_js[] = {
#embed "../ArbiterHTTP/Page/actions.js"
};

static const unsigned char answers_js[] = {
#embed "../ArbiterHTTP/Page/answers.js"
};

static const unsigned char blockers_js[] = {
#embed "../ArbiterHTTP/Page/blockers.js"
};

static const unsigned char cluster_view_js[] = {
#embed "../ArbiterHTTP/Page/cluster-view.js"
};

static const unsigned char dom_js[] = {
#embed "../ArbiterHTTP/Page/dom.js"
};

static const unsigned char hierarchy_js[] = {
#embed "../ArbiterHTTP/Page/hierarchy.js"
};

static const unsigned char lanes_view_js[] = {
#embed "../ArbiterHTTP/Page/lanes-view.js"
};

static const unsigned char limits_js[] = {
#embed "../ArbiterHTTP/Page/limits.js"
};

static const unsigned char live_js[] = {
#embed "../ArbiterHTTP/Page/live.js"
};

static const unsigned char messages_js[] = {
#embed "../ArbiterHTTP/Page/messages.js"
};

static const unsigned char model_js[] = {
#embed "../ArbiterHTTP/Page/model.js"
};

static const unsigned char names_js[] = {
#embed "../ArbiterHTTP/Page/names.js"
};

static const unsigned char now_view_js[] = {
#embed "../ArbiterHTTP/Page/now-view.js"
};

static const unsigned char operations_js[] = {
#embed "../ArbiterHTTP/Page/operations.js"
};

static const unsigned char own_transitions_js[] = {
#embed "../ArbiterHTTP/Page/own-transitions.js"
};

static const unsigned char past_view_js[] = {
#embed "../ArbiterHTTP/Page/past-view.js"
};

static const unsigned char record_view_js[] = {
#embed "../ArbiterHTTP/Page/record-view.js"
};

static const unsigned char recording_form_js[] = {
#embed "../ArbiterHTTP/Page/recording-form.js"
};

static const unsigned char recording_order_js[] = {
#embed "../ArbiterHTTP/Page/recording-order.js"
};

static const unsigned char recording_js[] = {
#embed "../ArbiterHTTP/Page/recording.js"
};

static const unsigned char scenes_view_js[] = {
#embed "../ArbiterHTTP/Page/scenes-view.js"
};

static const unsigned char start_dialog_js[] = {
#embed "../ArbiterHTTP/Page/start-dialog.js"
};

static const unsigned char storyboard_dialog_js[] = {
#embed "../ArbiterHTTP/Page/storyboard-dialog.js"
};

static const unsigned char timeline_drawing_js[] = {
#embed "../ArbiterHTTP/Page/timeline-drawing.js"
};

static const unsigned char timeline_rows_js[] = {
#embed "../ArbiterHTTP/Page/timeline-rows.js"
};

static const unsigned char timeline_view_js[] = {
#embed "../ArbiterHTTP/Page/timeline-view.js"
};

static const unsigned char tree_view_js[] = {
#embed "../ArbiterHTTP/Page/tree-view.js"
};

static const unsigned char unfinished_js[] = {
#embed "../ArbiterHTTP/Page/unfinished.js"
};

static const unsigned char verdict_js[] = {
#embed "../ArbiterHTTP/Page/verdict.js"
};

static const unsigned char wires_view_js[] = {
#embed "../ArbiterHTTP/Page/wires-view.js"
};

static const unsigned char words_js[] = {
#embed "../ArbiterHTTP/Page/words.js"
};

#define RESOURCE(path, bytes) {path, bytes, sizeof(bytes)}

static const struct arbiter_resource resources[] = {
    RESOURCE("openapi.yaml", openapi_yaml),
    RESOURCE("client.js", client_js),
    RESOURCE("client.d.ts", client_d_ts),
    RESOURCE("page.html", page_html),
    RESOURCE("page.css", page_css),
    RESOURCE("page.js", page_js),
    RESOURCE("page/actions.js", actions_js),
    RESOURCE("page/answers.js", answers_js),
    RESOURCE("page/blockers.js", blockers_js),
    RESOURCE("page/cluster-view.js", cluster_view_js),
    RESOURCE("page/dom.js", dom_js),
    RESOURCE("page/hierarchy.js", hierarchy_js),
    RESOURCE("page/lanes-view.js", lanes_view_js),
    RESOURCE("page/limits.js", limits_js),
    RESOURCE("page/live.js", live_js),
    RESOURCE("page/messages.js", messages_js),
    RESOURCE("page/model.js", model_js),
    RESOURCE("page/names.js", names_js),
    RESOURCE("page/now-view.js", now_view_js),
    RESOURCE("page/operations.js", operations_js),
    RESOURCE("page/own-transitions.js", own_transitions_js),
    RESOURCE("page/past-view.js", past_view_js),
    RESOURCE("page/record-view.js", record_view_js),
    RESOURCE("page/recording-form.js", recording_form_js),
    RESOURCE("page/recording-order.js", recording_order_js),
    RESOURCE("page/recording.js", recording_js),
    RESOURCE("page/scenes-view.js", scenes_view_js),
    RESOURCE("page/start-dialog.js", start_dialog_js),
    RESOURCE("page/storyboard-dialog.js", storyboard_dialog_js),
    RESOURCE("page/timeline-drawing.js", timeline_drawing_js),
    RESOURCE("page/timeline-rows.js", timeline_rows_js),
    RESOURCE("page/timeline-view.js", timeline_view_js),
    RESOURCE("page/tree-view.js", tree_view_js),
    RESOURCE("page/unfinished.js", unfinished_js),
    RESOURCE("page/verdict.js", verdict_js),
    RESOURCE("page/wires-view.js", wires_view_js),
    RESOURCE("page/words.js", words_js),
};

size_t arbiter_resource_count(void) { return sizeof(resources) / sizeof(resources[0]); }

struct arbiter_resource arbiter_resource_at(size_t index) { return resources[index]; }
