import { expect, test } from 'vitest';
import { ModelClock } from '../../../test/kit/model-host.ts';
import { awsLocalHostname, gcpHostname } from './cloud-name.ts';
import type { Metadata, MetadataAnswer, MetadataRequest } from './metadata.ts';

const never = new AbortController().signal;
const answer = (text: string, status = 200, headers = {}): MetadataAnswer => ({ status, text, headers });
const google = (text: string) => answer(text, 200, { 'metadata-flavor': 'Google' });
type Script = (question: MetadataRequest, count: number) => MetadataAnswer | Error;

/** A cloud that answers by a script and remembers what it was asked. */
function cloud(script: Script) {
  const asked: MetadataRequest[] = [];
  const clock = new ModelClock();
  const metadata: Metadata = {
    ask: async question => {
      asked.push(question);
      const given = script(question, asked.length);
      if (given instanceof Error) throw given;
      return given;
    },
  };
  const asking = { clock, signal: never };
  return { asked, clock, aws: () => awsLocalHostname(metadata, asking), gcp: () => gcpHostname(metadata, asking) };
}

/** Version 2 of Amazon's service: a token first, and nothing without one. */
const imds2: Script = ({ method, url, headers }) => {
  if (method === 'PUT' && url.endsWith('/latest/api/token')) return answer('TOKEN==\n');
  return headers['X-aws-ec2-metadata-token'] === 'TOKEN==' ? answer('ip-10-0-0-5.ec2.internal') : answer('', 401);
};

test('requests a token and then the name from AWS', async () => {
  const { asked, aws, clock } = cloud(imds2);
  expect(await aws()).toBe('ip-10-0-0-5.ec2.internal');
  expect(asked).toEqual([
    {
      method: 'PUT',
      url: 'http://169.254.169.254/latest/api/token',
      headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' },
    },
    {
      method: 'GET',
      url: 'http://169.254.169.254/latest/meta-data/local-hostname',
      headers: { 'X-aws-ec2-metadata-token': 'TOKEN==' },
    },
  ]);
  expect(clock.ms).toBe(0);
});

test.each([404, 405])('requests without a token where the token request returns %i', async status => {
  const { asked, aws } = cloud(({ method }) => (method === 'PUT' ? answer('', status) : answer('ip-10-0-0-5')));
  expect(await aws()).toBe('ip-10-0-0-5');
  expect(asked.map(({ headers }) => Object.keys(headers).length)).toEqual([1, 0]);
});

const noToken: [string, MetadataAnswer | Error][] = [
  ['forbids it', answer('', 403)],
  ['wants something else', answer('', 400)],
  ['is broken', answer('', 500)],
  ['does not answer', new Error('timed out')],
  ['gives an empty token', answer(' \n')],
  ['gives a token of two lines', answer('A\r\nX-Other: B')],
];
for (const [name, given] of noToken) {
  test(`never requests without a token because the service ${name}`, async () => {
    const { asked, aws, clock } = cloud(() => given);
    await expect(aws()).rejects.toMatchObject({ code: 'HOST_VALUE_UNKNOWN', remedy: expect.stringMatching(/169/) });
    expect(asked.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT', 'PUT']);
    expect(clock.ms).toBe(3000);
  });
}

test('retries with a new token each time', async () => {
  const { asked, aws, clock } = cloud((question, count) => (count < 6 ? answer('', 503) : imds2(question, count)));
  await expect(aws()).rejects.toThrow('status 503');
  expect([await aws(), asked.length, clock.ms]).toEqual(['ip-10-0-0-5.ec2.internal', 7, 4000]);
});

test('requests another token when one has expired', async () => {
  const { aws } = cloud((question, count) => (count === 2 ? answer('', 401) : imds2(question, count)));
  expect(await aws()).toBe('ip-10-0-0-5.ec2.internal');
});

test('shows no token in errors', async () => {
  const { aws } = cloud(({ method }) => (method === 'PUT' ? answer('SECRET') : answer('', 500)));
  const error = await aws().catch((thrown: unknown) => thrown);
  expect(JSON.stringify(error) + String(error)).not.toContain('SECRET');
});

const names: [string, string, string][] = [
  ['a name with a line break', 'ip-10-0-0-5.ec2.internal\n', 'ip-10-0-0-5.ec2.internal'],
  ['the first of several names', 'ip-10-0-0-5.a.example ip-10-0-0-5.b.example', 'ip-10-0-0-5.a.example'],
  ['a name in capitals', 'WIN-1.example', 'WIN-1.example'],
];
for (const [name, given, want] of names) {
  test(`takes ${name}`, async () => {
    expect(await cloud(({ method }) => answer(method === 'PUT' ? 'T' : given)).aws()).toBe(want);
    expect(await cloud(() => google(given)).gcp()).toBe(want);
  });
}

const noNames: [string, string][] = [
  ['nothing', ''],
  ['a page', '<html>not found</html>'],
  ['a quote and a command', 'a"&calc.exe'],
  ['an option', '--v=10'],
  ['an underscore', 'my_host'],
];
for (const [name, given] of noNames) {
  test(`rejects ${name} as a name, without a retry`, async () => {
    const { asked, gcp } = cloud(() => google(given));
    await expect(gcp()).rejects.toMatchObject({ code: 'HOST_VALUE_UNKNOWN', message: expect.stringContaining('GCP') });
    expect(asked).toHaveLength(1);
  });
}

test('requests from GCP with the required header', async () => {
  const { asked, gcp } = cloud(() => google('win-1.c.project.internal'));
  expect(await gcp()).toBe('win-1.c.project.internal');
  expect(asked).toEqual([
    {
      method: 'GET',
      url: 'http://169.254.169.254/computeMetadata/v1/instance/hostname',
      headers: { 'Metadata-Flavor': 'Google' },
    },
  ]);
});

test('believes no answer that is not from Google', async () => {
  const { asked, gcp } = cloud(() => answer('win-1'));
  await expect(gcp()).rejects.toThrow('not from Google');
  expect(asked).toHaveLength(4);
});

const label = (length: number) => 'a'.repeat(length);
const lengths: [string, string, string][] = [
  ['63 characters', `${label(30)}.${label(32)}`, `${label(30)}.${label(32)}`],
  ['64 characters', `${label(30)}.${label(33)}`, label(30)],
  ['a first part of 63', `${label(63)}.internal`, label(63)],
  ['a first part of 64', `${label(64)}.internal`, label(63)],
  ['no dot in 64', label(64), label(63)],
  ['a first part of one', `a.${label(63)}`, 'a'],
];
for (const [name, given, want] of lengths) {
  test(`shortens a GCP name with ${name}`, async () => {
    expect(await cloud(() => google(given)).gcp()).toBe(want);
  });
}

test('rejects an invalid name after shortening', async () => {
  await expect(cloud(() => google(`${label(62)}-${label(5)}`)).gcp()).rejects.toMatchObject({
    code: 'HOST_VALUE_UNKNOWN',
  });
});

test('stops requesting when aborted', async () => {
  const stop = new AbortController();
  const metadata: Metadata = {
    ask: async () => {
      stop.abort(new Error('stopping'));
      throw new Error('no answer');
    },
  };
  await expect(gcpHostname(metadata, { clock: new ModelClock(), signal: stop.signal })).rejects.toThrow('stopping');
});
