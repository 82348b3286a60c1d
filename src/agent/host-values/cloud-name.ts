import type { Clock } from '#base/clock.ts';
import { AppError, messageOf } from '#base/errors.ts';
import { hostNameOf } from './host-name.ts';
import type { Metadata, MetadataAnswer } from './metadata.ts';

interface Asking {
  clock: Clock;
  signal: AbortSignal;
}

/** By number, so that no name server has a say in it. */
const server = 'http://169.254.169.254';
const tries = 4;
const pauseMs = 1000;

/** The name that Amazon knows the machine by. */
export async function awsLocalHostname(metadata: Metadata, asking: Asking): Promise<string> {
  return severalTimes('AWS', asking, async () => {
    const headers = await awsToken(metadata, asking.signal);
    const url = `${server}/latest/meta-data/local-hostname`;
    const answer = await metadata.ask({ method: 'GET', url, headers }, asking.signal);
    return hostNameOf(textOf(answer, url), 'AWS');
  });
}

/** Version 2 of the service wants a token. Version 1 is asked only where 2 does not exist, never because it failed. */
async function awsToken(metadata: Metadata, signal: AbortSignal): Promise<Record<string, string>> {
  const url = `${server}/latest/api/token`;
  const headers = { 'X-aws-ec2-metadata-token-ttl-seconds': '60' };
  const answer = await metadata.ask({ method: 'PUT', url, headers }, signal);
  if (answer.status === 404 || answer.status === 405) return {};
  const token = textOf(answer, url).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${url} gave no token`);
  return { 'X-aws-ec2-metadata-token': token };
}

/** The name that Google knows the machine by, cut to what a Node may be called. */
export async function gcpHostname(metadata: Metadata, asking: Asking): Promise<string> {
  return severalTimes('GCP', asking, async () => {
    const url = `${server}/computeMetadata/v1/instance/hostname`;
    const answer = await metadata.ask({ method: 'GET', url, headers: { 'Metadata-Flavor': 'Google' } }, asking.signal);
    if (answer.headers['metadata-flavor'] !== 'Google') throw new Error(`the answer of ${url} is not from Google`);
    return hostNameOf(shortened(textOf(answer, url).trim()), 'GCP');
  });
}

/** The value of a label on the Node has at most 63 characters, and the name becomes one. */
function shortened(name: string): string {
  if (name.length <= 63) return name;
  const dot = name.indexOf('.');
  return dot >= 1 && dot <= 63 ? name.slice(0, dot) : name.slice(0, 63);
}

function textOf({ status, text }: MetadataAnswer, url: string): string {
  if (status === 200) return text;
  throw new Error(`${url} answered with status ${status}`);
}

async function severalTimes(cloud: string, { clock, signal }: Asking, ask: () => Promise<string>): Promise<string> {
  let last: unknown;
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      last = error;
    }
    if (attempt < tries) await clock.sleep(pauseMs, signal);
  }
  throw unknownName(cloud, last);
}

function unknownName(cloud: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('HOST_VALUE_UNKNOWN', `${cloud} does not tell the name of this host: ${why}`, {
    remedy: `Let the host reach ${server}; a route to it may have been lost with a network adapter.`,
    cause,
  });
}
