import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { textFromBase64, toBase64 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { ApiError } from '#kube/api-error.ts';
import type { WatchOptions } from '#kube/client.ts';
import type { WatchEvent } from '#kube/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import {
  agentKey,
  agentSubject,
  ca,
  hourMs,
  minuteMs,
  nodeName,
  showsKey,
} from '../../../test/kit/agent-certificates.ts';
import { startMs } from '../../../test/kit/agent-certificates.ts';
import { generateKey, type LeafContent } from '../../../test/kit/certificates.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { issueCertificate, type IssueOptions } from './issue.ts';
import { agentIdentity } from './kept-identity.ts';

type Request = CertificateSigningRequest;
type Event = WatchEvent<Request>;
type Step = Event | 'end' | Error;

const refused = (code: number) => new ApiError({ code, message: 'refused' }, 'GET /csr');

/** A server with one request, whose watch brings what a test says. */
class RequestApi {
  object: Request | undefined;
  readonly watches: WatchOptions[] = [];
  lists = 0;
  /** Answers to the next lists instead of the object. */
  readonly listFailures: Error[] = [];
  createFailure: Error | undefined;
  #steps: Step[] = [];
  #wake = (): void => undefined;

  readonly client = {
    create: async (_: unknown, object: Request) => {
      if (this.createFailure !== undefined) throw this.createFailure;
      this.object = { ...object, metadata: { ...object.metadata, name: 'csr-7', uid: 'u1', resourceVersion: '5' } };
      return this.object;
    },
    list: async () => {
      this.lists += 1;
      const failure = this.listFailures.shift();
      if (failure !== undefined) throw failure;
      return { metadata: { resourceVersion: '9' }, items: this.object === undefined ? [] : [this.object] };
    },
    watch: (_: unknown, options: WatchOptions) => this.#watch(options),
  } as unknown as IssueOptions['client'];

  send(...steps: Step[]): void {
    this.#steps.push(...steps);
    this.#wake();
  }

  async *#watch(options: WatchOptions): AsyncGenerator<Event> {
    this.watches.push(options);
    for (;;) {
      options.signal?.throwIfAborted();
      const step = this.#steps.shift();
      if (step === 'end') return;
      if (step instanceof Error) throw step;
      if (step !== undefined) yield step;
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve;
          options.signal?.addEventListener('abort', () => resolve(), { once: true });
        });
    }
  }

  /** The request as it would be with this status. */
  with(status: Request['status'], uid = 'u1'): Request {
    const { metadata, spec } = this.object as Request;
    return { metadata: { ...metadata, uid }, spec, ...(status && { status }) };
  }

  /** What a signer makes of the request. */
  signed(content: Partial<LeafContent> = {}, more: { key?: Uint8Array; behind?: string } = {}): string {
    const request = parseCertificateRequest(textFromBase64(this.object?.spec.request ?? '') ?? '');
    const leaf = { ...agentSubject(), notBefore: startMs - 5 * minuteMs, notAfter: startMs + hourMs, ...content };
    return toBase64(ca.certify(leaf, more.key ?? request.subjectPublicKeyInfo) + (more.behind ?? ''));
  }
}

const common = { subject: agentIdentity(nodeName), key: agentKey, durationMs: hourMs, random: () => 0 };
const approved = { type: 'Approved', status: 'True', reason: 'WICDAutoApproved' };

/** Starts to ask and waits until the watch is open. */
async function asking() {
  const api = new RequestApi();
  const clock = manualClock(startMs);
  const stop = new AbortController();
  const recorded = recordedLog();
  const made: number[] = [];
  const onRequested = () => void made.push(clock.now());
  const options = { ...common, client: api.client, clock, log: recorded.log, onRequested };
  const outcome = issueCertificate(options, stop.signal);
  outcome.catch(() => undefined);
  await settle();
  const modified = (status: Request['status'], uid?: string): Event => ({
    type: 'MODIFIED',
    object: api.with(status, uid),
  });
  return { api, clock, stop, outcome, modified, made, ...recorded };
}

test('watches its request by name from where it was read, and gives the certificate with its key', async () => {
  const { api, outcome, modified, made } = await asking();
  expect(made).toEqual([startMs]);
  expect(api.watches).toMatchObject([
    { fieldSelector: 'metadata.name=csr-7', resourceVersion: '9', timeoutSeconds: 300 },
  ]);
  const certificate = api.signed();
  api.send(modified({ conditions: [approved], certificate }));
  const issued = await outcome;
  expect(issued).toMatchObject({ commonName: 'system:wicd-node:win1', notAfterMs: startMs + hourMs });
  expect(issued.clientCertificate.certificate).toBe(textFromBase64(certificate));
});

test('continues waiting while it is approved but not signed, and over bookmarks', async () => {
  const { api, clock, outcome, modified } = await asking();
  api.send(modified({}), modified({ conditions: [approved] }), modified({ conditions: [approved], certificate: '' }));
  api.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '11' } } as Request });
  await clock.advance(10 * minuteMs);
  api.send(modified({ conditions: [approved], certificate: api.signed() }));
  expect((await outcome).notAfterMs).toBe(startMs + hourMs);
  expect(api.lists).toBe(1);
});

test('finds a certificate that was issued before the watch', async () => {
  const api = new RequestApi();
  const { list } = api.client;
  api.client.list = (async (...given: Parameters<typeof list>) => {
    api.object = api.with({ conditions: [approved], certificate: api.signed() });
    return list(...given);
  }) as typeof list;
  const options = {
    ...common,
    client: api.client,
    clock: manualClock(startMs),
    log: recordedLog().log,
  };
  expect((await issueCertificate(options, new AbortController().signal)).commonName).toBe('system:wicd-node:win1');
  expect(api.watches).toEqual([]);
});

test('keeps intermediate certificates', async () => {
  const { api, outcome, modified } = await asking();
  api.send(modified({ certificate: api.signed({}, { behind: ca.cert }) }));
  expect((await outcome).clientCertificate.certificate.match(/BEGIN CERT/g)).toHaveLength(2);
});

const interruptions: [name: string, step: Step][] = [
  ['the server ends the watch', 'end'],
  ['the connection breaks', new AppError('API_CONNECTION_BROKEN', 'reset', { remedy: 'r' })],
  ['the server cannot be reached', new AppError('API_UNREACHABLE', 'down', { remedy: 'r' })],
  ['the version is too old', refused(410)],
  ['the server fails', refused(500)],
  ['the server is busy', refused(429)],
  ['something else happens', new TypeError('odd')],
  ['the credential is refused: another one may come', refused(401)],
  ['no credential is left: one may be written', new AppError('AGENT_UNIDENTIFIED', 'nobody', { remedy: 'r' })],
];
for (const [name, step] of interruptions) {
  test(`checks again soon after ${name}, at the same request`, async () => {
    const { api, clock, outcome, modified, made } = await asking();
    api.send(step);
    await settle();
    expect(api.watches).toHaveLength(1);
    api.listFailures.push(refused(503));
    await clock.advance(7000);
    expect([api.lists, api.watches.length]).toEqual([3, 2]);
    api.send(modified({ certificate: api.signed() }));
    await outcome;
    expect(made).toHaveLength(1);
  });
}

test('sees what happened while no watch was open', async () => {
  const { api, clock, outcome } = await asking();
  api.send('end');
  await settle();
  api.object = api.with({ conditions: [approved], certificate: api.signed() });
  await clock.advance(2100);
  await outcome;
  expect(api.watches).toHaveLength(1);
});

type Asking = Awaited<ReturnType<typeof asking>>;
const because = (type: string, more: object = {}) => ({
  conditions: [{ type, status: 'True', reason: 'Because', message: 'of this', ...more }],
});
const failures: [name: string, act: (given: Asking) => void, code: unknown, message: string][] = [
  [
    'is denied',
    ({ api, modified }) => api.send(modified(because('Denied'))),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'CertificateSigningRequest csr-7 was denied: Because of this',
  ],
  [
    'is denied without a word',
    ({ api, modified }) => api.send(modified({ conditions: [{ type: 'Denied' } as never] })),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'was denied',
  ],
  [
    'cannot be signed',
    ({ api, modified }) => api.send(modified(because('Failed'))),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'csr-7 cannot be signed: Because of this',
  ],
  [
    'is deleted',
    ({ api }) => api.send({ type: 'DELETED', object: api.with({}) }),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'csr-7 was deleted',
  ],
  [
    'is replaced by another of its name',
    ({ api, modified }) => api.send(modified({ certificate: api.signed() }, 'u2')),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'csr-7 was deleted',
  ],
  ['may not be watched', ({ api }) => api.send(refused(403)), 403, 'refused'],
  [
    'gets what is no text',
    ({ api, modified }) => api.send(modified({ certificate: '/w==' })),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'has a certificate that is not text',
  ],
  [
    'gets what is no certificate',
    ({ api, modified }) => api.send(modified({ certificate: toBase64('hunter2') })),
    'AGENT_CERTIFICATE_UNUSABLE',
    'CertificateSigningRequest csr-7: contains no certificate',
  ],
  [
    'gets the certificate of another key',
    ({ api, modified }) => api.send(modified({ certificate: api.signed({}, { key: generateKey().publicKey }) })),
    'AGENT_CERTIFICATE_UNUSABLE',
    'do not belong together',
  ],
  [
    'gets the certificate of another node',
    signedFor(agentSubject('win2')),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'csr-7 returned a certificate that is for "system:wicd-node:win2"',
  ],
  [
    'gets a certificate of another group',
    signedFor({ organizations: ['system:masters'] }),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'is for the groups ["system:masters"]',
  ],
  [
    'gets a certificate with names',
    signedFor({ names: ['win1'] }),
    'AGENT_CERTIFICATE_NOT_ISSUED',
    'has subject alternative names',
  ],
  [
    'gets one that has expired',
    signedFor({ notAfter: startMs - 1000 }),
    'AGENT_CLOCK_WRONG',
    'csr-7 returned a certificate that expired at 2026-03-01T11:59:59Z, but the clock of the host shows 2026-03-01T12:00:00Z',
  ],
  [
    'gets one of tomorrow',
    signedFor({ notBefore: startMs + hourMs, notAfter: startMs + 2 * hourMs }),
    'AGENT_CLOCK_WRONG',
    'is not valid before 2026-03-01T13:00:00Z',
  ],
];
for (const [name, act, code, message] of failures) {
  test(`fails when the request ${name}`, async () => {
    const given = await asking();
    act(given);
    const error = await given.outcome.then(
      () => undefined,
      (reason: AppError) => reason,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    if (error instanceof AppError) expect(error.remedy).not.toBe('');
    expect(showsKey(inspect(error, { depth: 9 }))).toBe(false);
    expect(inspect(error)).not.toContain('hunter2');
  });
}

function signedFor(content: Partial<LeafContent>): (given: Asking) => void {
  return ({ api, modified }) => api.send(modified({ conditions: [approved], certificate: api.signed(content) }));
}

test('a condition that is withdrawn is none', async () => {
  const { api, outcome, modified } = await asking();
  const status = because('Failed', { status: 'False' });
  const certificate = api.signed();
  api.send(modified({ ...status, certificate }));
  expect(await outcome).toBeDefined();
});

test('gives up after 15 minutes with a remedy', async () => {
  const { clock, outcome, api } = await asking();
  for (let minute = 0; minute < 14; minute += 1) {
    api.send('end');
    await clock.advance(minuteMs);
  }
  const state = { over: false };
  outcome.catch(() => (state.over = true));
  await clock.advance(minuteMs - 1);
  expect(state.over).toBe(false);
  await clock.advance(1);
  await expect(outcome).rejects.toMatchObject({
    code: 'AGENT_CERTIFICATE_NOT_ISSUED',
    message: 'CertificateSigningRequest csr-7 was not signed within 15 minutes',
    remedy: expect.stringContaining('operator'),
  });
  expect(clock.sleepers()).toBe(0);
});

test('stops when aborted and leaves no timer or watch', async () => {
  const { clock, stop, outcome } = await asking();
  stop.abort(new Error('enough'));
  await expect(outcome).rejects.toThrow('enough');
  await settle();
  expect(clock.sleepers()).toBe(0);
});

test('does not call onRequested when the request cannot be created', async () => {
  const api = new RequestApi();
  api.createFailure = refused(403);
  const options = {
    ...common,
    client: api.client,
    clock: manualClock(startMs),
    log: recordedLog().log,
  };
  await expect(issueCertificate(options, new AbortController().signal)).rejects.toMatchObject({ code: 403 });
  expect(api.lists).toBe(0);
});

test('notices a deletion without a watch event', async () => {
  const { api, clock, outcome } = await asking();
  api.send('end');
  api.object = undefined;
  await clock.advance(2100);
  await expect(outcome).rejects.toMatchObject({ message: expect.stringContaining('was deleted') });
});

test('reports which request it waits for, and never the key', async () => {
  const { lines } = await asking();
  expect(lines).toMatchObject([{ level: 'info', fields: { CertificateSigningRequest: 'csr-7' } }]);
  expect(showsKey(inspect(lines, { depth: 9 }))).toBe(false);
});
