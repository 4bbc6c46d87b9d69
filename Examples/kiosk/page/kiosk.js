// A window of the kiosk: it shows the scene that it shares with other processes, and asks for transitions.

const { url } = await (await fetch('daemon.json')).json();
// The daemon serves its client to the pages of origins that it allows.
const { Arbiter, ArbiterError, operations } = await import(`${url}/client.js`);

const name = new URLSearchParams(location.search).get('window') ?? 'window';
const scene = new Arbiter({ url, client: name }).scene('kiosk');

const find = id => document.getElementById(id);
const element = (tag, ...content) => {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
};

// What this window asks for

const make = {
  push: () => operations.push(`${name}-${crypto.randomUUID().slice(0, 4)}`, { navigation: 'kiosk' }),
  pop: () => operations.pop('kiosk'),
  present: () => operations.present('menu', { presenter: 'kiosk' }),
  dismiss: () => operations.dismiss('kiosk'),
};

async function perform(type, waits) {
  const tell = text => find('log').prepend(element('li', `${type}: ${text}`));
  const options = { operation: make[type]() };
  try {
    const transition = await (waits ? scene.serialize(options) : scene.start(options));
    if (!transition) return tell('dropped, another transition is in the way');
    if (transition.noop) return tell('there is nothing to do');
    tell('runs');
    // A timer, because in a hidden tab no animation gets to its end, and the others would wait for it.
    await new Promise(resolve => setTimeout(resolve, transition.document.animation.duration * 1000));
    await transition.complete();
    tell('completed');
  } catch (error) {
    // For example a push that is impossible when its turn comes, or a lock that was lost.
    if (!(error instanceof ArbiterError)) throw error;
    tell(error.message);
  }
}

find('controls').addEventListener('submit', event => {
  event.preventDefault();
  const waits = new FormData(event.target).get('busy') === 'wait';
  perform(event.submitter.value, waits);
});

// What every window shows

function node({ id, children = [], presented }) {
  const item = element('li', id);
  const below = [...children.map(node), ...(presented ? [element('li', 'presents ', element('ul', node(presented)))] : [])];
  if (below.length) item.append(element('ul', ...below));
  return item;
}

const line = ({ client, operation }) => `${client}: ${operation?.type ?? 'lock'}`;

async function draw() {
  const { hierarchy, running, queue, lastEvent } = await scene.read();
  find('tree').replaceChildren(...(hierarchy ? [node(hierarchy)] : []));
  find('running').replaceChildren(...running.map(transition => {
    const text = line(transition);
    const progress = element('progress');
    progress.setAttribute('aria-label', text);
    return element('li', text, progress);
  }));
  find('waiting').replaceChildren(...queue.map(transition => element('li', line(transition))));
  return lastEvent;
}

find('name').textContent = name;
document.title = `Kiosk, ${name}`;
// The scene as it is, and everything that happens after that.
const since = await draw();
for await (const event of scene.events({ since: String(since) })) {
  if (/^(transition|hierarchy|reset)/.test(event.name)) await draw();
}
