// @ts-check
// What the daemon answers to a request, and what is said where it does not.

import { Refused, Unreachable } from '../client.js';
import { inWords } from './names.js';

export class Refusal extends Error {
  constructor(status, problem) {
    super(inWords(problem.detail ?? problem.title ?? `The daemon answered ${status}.`));
    this.status = status;
    this.problem = problem;
  }
}

/** There was no answer, or not one of the daemon. */
export class Unanswered extends Error {
  constructor() {
    super('The daemon does not answer.');
  }
}

/** The document of an answer with its tag. @param {Response} response @throws {Refusal} @throws {Unanswered} */
export async function answerOf(response) {
  const text = await response.text().catch(() => { throw new Unanswered(); });
  const document = text ? parsed(text) : {};
  // What is no JSON comes from something else, such as a proxy, and so does what has no code where a proxy refuses too.
  const mayBeOfProxy = response.status === 404 || response.status >= 500;
  if (response.ok ? document === null : mayBeOfProxy && typeof document?.code !== 'string') throw new Unanswered();
  if (!response.ok) throw new Refusal(response.status, document ?? {});
  return { document, tag: response.headers.get('ETag') };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An error of the client in the words of the page. @param {any} error */
export function inPageWords(error) {
  if (error instanceof Unreachable) return new Unanswered();
  return error instanceof Refused ? new Refusal(error.status, error.problem) : new Error(inWords(error.message));
}
