import { setTimeout as delay } from 'node:timers/promises';
import { Either, expectedOn } from './changed.ts';
import { mergePatch, type ParityCase, type Step, type WatchStep } from './case.ts';
import { mismatch, valueAt } from './match.ts';
import type { Received, Sent, Target } from './target.ts';

export interface Setting {
  target: Target;
  /** Minor version of the server. */
  minor: number;
  /** Version of PodDisruptionBudgets. */
  policy: string;
  /** Gets every response, for further comparisons. */
  observe?: (step: Step, received: Received) => void;
}

/** The real server backs off when CRDs of other cases change during the deletion of a namespace. */
const eventuallyMs = 90_000;
const retryMs = 100;

/** Runs a case in its own namespace; throws at the first difference. */
export async function runCase(setting: Setting, { name, steps }: ParityCase, id: string): Promise<void> {
  const values: Record<string, string> = { id, ns: `parity-${id}`, policy: setting.policy };
  const namespace: Step = { send: 'POST /api/v1/namespaces', body: { metadata: { name: '{ns}' } }, code: 201 };
  for (const [index, step] of [namespace, defaultAccount, ...steps].entries()) {
    const problem = 'watch' in step ? await runWatch(setting, step, values) : await runStep(setting, step, values);
    if (problem !== undefined) throw new Error(`${name}: step ${index - 1}: ${problem}`);
  }
}

/** Pods are rejected before it exists. */
const defaultAccount: Step = {
  send: 'GET /api/v1/namespaces/{ns}/serviceaccounts/default',
  code: 200,
  eventually: true,
};

async function runStep(setting: Setting, step: Step, values: Record<string, string>): Promise<string | undefined> {
  const tooEarlyDeadline = performance.now() + eventuallyMs;
  const deadline = step.eventually === true ? tooEarlyDeadline : performance.now();
  for (;;) {
    const sent = requestOf(step, values);
    const received = await setting.target.send(sent);
    setting.observe?.(step, received);
    const problem = problemOf(setting, step, received, values);
    const patient = isTooEarly(received) ? tooEarlyDeadline : deadline;
    if (problem === undefined || performance.now() >= patient) {
      for (const [name, path] of Object.entries(step.keep ?? {})) values[name] = String(valueAt(received.body, path));
      return problem && `${sent.method} ${sent.path}: ${problem}\n${JSON.stringify(received.body)}`;
    }
    await delay(retryMs);
  }
}

/** Before Kubernetes 1.24 pods are rejected until the token of their account exists. */
function isTooEarly({ code, body }: Received): boolean {
  return code === 500 && String(valueAt(body, 'message')).includes('retry after the token is automatically created');
}

function problemOf(
  { minor }: Setting,
  step: Step,
  { code, body }: Received,
  values: Record<string, string>,
): string | undefined {
  const wrongCode = mismatch(expectedOn(minor, step.code), code, 'code');
  if (wrongCode !== undefined) return wrongCode;
  const wrong = step.gives === undefined ? undefined : mismatch(filled(expectedOn(minor, step.gives), values), body);
  const surplus = step.lacks?.find(path => valueAt(body, path) !== undefined);
  return wrong ?? (surplus && `${surplus} is there`);
}

async function runWatch(
  setting: Setting,
  step: WatchStep,
  values: Record<string, string>,
): Promise<string | undefined> {
  const headers = { accept: step.accept ?? 'application/json' };
  const path = filled(step.watch, values);
  const { code, lines } = await setting.target.stream({ method: 'GET', path, headers });
  if (code !== 200) return `the watch is answered with code ${code}`;
  for (const inner of step.steps ?? []) {
    const problem = await runStep(setting, inner, values);
    if (problem !== undefined) return problem;
  }
  const events = (await lines) as { type: string; object: unknown }[];
  const wanted = step.events.map(([type, object]) => ({
    type,
    object: filled(expectedOn(setting.minor, object), values),
  }));
  const seen = step.anyOrder === true ? events.toSorted(byName) : events;
  const problem = mismatch(wanted, seen);
  return problem && `${problem}\n${JSON.stringify(events)}`;
}

function byName(one: { object: unknown }, other: { object: unknown }): number {
  const [a, b] = [one, other].map(event => String(valueAt(event.object, 'metadata.name')));
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

function requestOf(step: Step, values: Record<string, string>): Sent {
  const [method = 'GET', path = '/'] = filled(step.send, values).split(' ');
  const body = step.body === undefined ? undefined : filled(step.body, values);
  const type = step.type ?? (method === 'PATCH' ? mergePatch : 'application/json');
  return {
    method,
    path,
    headers: {
      accept: step.accept ?? 'application/json',
      'user-agent': 'parity/1',
      ...(body === undefined ? {} : { 'content-type': type }),
      ...(step.as === undefined ? {} : { 'impersonate-user': filled(step.as, values) }),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
}

/** Replaces placeholders with values of the case; patterns stay unchanged. */
function filled<T>(template: T, values: Record<string, string>): T {
  if (typeof template === 'string')
    return template.replaceAll(/\{([a-z][A-Za-z0-9]*)\}/g, (whole, name: string) => values[name] ?? whole) as T;
  if (template instanceof Either) return new Either(filled(template.values, values)) as T;
  if (Array.isArray(template)) return template.map((item: unknown) => filled(item, values)) as T;
  if (typeof template !== 'object' || template === null || template instanceof RegExp) return template;
  const entries = Object.entries(template).map(([name, value]) => [filled(name, values), filled(value, values)]);
  return Object.fromEntries(entries) as T;
}
