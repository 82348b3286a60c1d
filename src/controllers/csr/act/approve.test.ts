import { expect, test } from 'vitest';
import { type CertificateSigningRequest, certificateSigningRequests as resource } from '#kube/resources.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../../test/kit/memory-api.ts';
import { approve, isDecided } from './approve.ts';

const condition = { type: 'Approved', status: 'True', reason: 'WMCOApprove', message: 'fine' } as const;
const request: CertificateSigningRequest = {
  metadata: { name: 'csr-1' },
  spec: { request: '', signerName: 'x' },
};

function bench(status?: CertificateSigningRequest['status']) {
  const api = new MemoryApi();
  const clock = manualClock();
  const made = api.put(resource, { ...request, ...(status && { status }) });
  const means = { client: api, clock, signal: new AbortController().signal, random: () => 0.5 };
  const conditions = () => api.peek(resource, 'csr-1')?.status?.conditions ?? [];
  return { api, clock, made, means, conditions };
}

test('approves by the subresource, with the time, beside what others have said', async () => {
  const failed = { type: 'Failed', status: 'True' };
  const { api, made, means, conditions } = bench({ conditions: [failed] });
  expect(await approve(made, condition, means)).toBe(true);
  const time = '2026-03-01T12:00:00Z';
  expect(conditions()).toEqual([failed, { ...condition, lastUpdateTime: time, lastTransitionTime: time }]);
  expect(api.calls.map(({ verb, resource: of }) => `${verb} ${of}`)).toEqual([
    'get certificatesigningrequests',
    'replace certificatesigningrequests/approval',
  ]);
});

for (const type of ['Approved', 'Denied']) {
  test(`leaves a request alone that is ${type} by now`, async () => {
    const { made, means, conditions } = bench({ conditions: [{ type, status: 'True' }] });
    expect(await approve(made, condition, means)).toBe(false);
    expect(conditions()).toHaveLength(1);
  });
}

test('a request that is gone, or another one of its name, is not approved', async () => {
  const { api, made, means, conditions } = bench();
  api.remove(resource, 'csr-1');
  expect(await approve(made, condition, means)).toBe(false);
  api.put(resource, request);
  expect(await approve(made, condition, means)).toBe(false);
  expect(conditions()).toEqual([]);
});

test('retries at once, and then a little later, when another client was faster', async () => {
  const { api, clock, made, means } = bench();
  let conflicts = 3;
  api.before = ({ verb }) => {
    if (verb === 'replace' && conflicts > 0) {
      conflicts -= 1;
      throw refused(409, 'Conflict');
    }
  };
  const approved = approve(made, condition, means);
  await clock.advance(10.5);
  await clock.advance(52.5);
  expect(conflicts).toBe(0);
  await clock.advance(262.5);
  expect(await approved).toBe(true);
});

test('gives up when conflicts do not end, and at any other refusal at once', async () => {
  for (const [code, reason, calls] of [
    [409, 'Conflict', 5],
    [403, 'Forbidden', 1],
  ] as const) {
    const { api, clock, made, means } = bench();
    api.before = ({ verb }) => {
      if (verb === 'replace') throw refused(code, reason);
    };
    const approved = expect(approve(made, condition, means)).rejects.toThrow(reason);
    await clock.advance(60_000);
    await approved;
    expect(api.calls.filter(({ verb }) => verb === 'replace')).toHaveLength(calls);
  }
});

test('stops waiting when the signal is aborted', async () => {
  const { api, made, means } = bench();
  const stop = new AbortController();
  api.before = ({ verb }) => {
    if (verb === 'replace') throw refused(409, 'Conflict');
  };
  const approved = approve(made, condition, { ...means, signal: stop.signal });
  stop.abort(new Error('over'));
  await expect(approved).rejects.toThrow('over');
});

const decided: [conditions: string[], want: boolean][] = [
  [[], false],
  [['Failed'], false],
  [['Approved'], true],
  [['Denied'], true],
  [['Failed', 'Denied'], true],
];
for (const [types, want] of decided) {
  test(`a request with [${types.join()}] is ${want ? '' : 'not '}decided`, () => {
    const conditions = types.map(type => ({ type, status: 'True' }));
    expect(isDecided({ ...request, status: { conditions } })).toBe(want);
  });
}
test('a request without a status is not decided', () => expect(isDecided(request)).toBe(false));
