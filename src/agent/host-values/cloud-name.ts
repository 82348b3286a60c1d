import { isHostName } from '#base/dns-name.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import type { Metadata, MetadataAnswer } from './metadata.ts';

/** By IP address, so that DNS has no influence. */
const server = 'http://169.254.169.254';
const maxAttempts = 4;
const pauseMs = 1000;

type Limits = Omit<Waiting, 'patience'>;

/** The private DNS name of the machine in AWS. */
export async function awsLocalHostname(metadata: Metadata, limits: Limits): Promise<string> {
  return withRetries('AWS', limits, async () => {
    const headers = await awsToken(metadata, limits.signal);
    const url = `${server}/latest/meta-data/local-hostname`;
    const answer = await metadata.ask({ method: 'GET', url, headers }, limits.signal);
    return hostNameOf(textOf(answer, url), 'AWS');
  });
}

/** IMDSv2 needs a token. IMDSv1 is used only where v2 does not exist, never because v2 failed. */
async function awsToken(metadata: Metadata, signal: AbortSignal): Promise<Record<string, string>> {
  const url = `${server}/latest/api/token`;
  const headers = { 'X-aws-ec2-metadata-token-ttl-seconds': '60' };
  const answer = await metadata.ask({ method: 'PUT', url, headers }, signal);
  if (answer.status === 404 || answer.status === 405) return {};
  const token = textOf(answer, url).trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`${url} returned no token`);
  return { 'X-aws-ec2-metadata-token': token };
}

/** The host name of the machine in GCP, shortened to the limit of a Node name. */
export async function gcpHostname(metadata: Metadata, limits: Limits): Promise<string> {
  return withRetries('GCP', limits, async () => {
    const url = `${server}/computeMetadata/v1/instance/hostname`;
    const answer = await metadata.ask({ method: 'GET', url, headers: { 'Metadata-Flavor': 'Google' } }, limits.signal);
    if (answer.headers['metadata-flavor'] !== 'Google') throw new Error(`the response of ${url} is not from Google`);
    return hostNameOf(shortened(textOf(answer, url).trim()), 'GCP');
  });
}

/** The name becomes the value of a label, which has at most 63 characters. */
function shortened(name: string): string {
  if (name.length <= 63) return name;
  const dot = name.indexOf('.');
  return dot >= 1 && dot <= 63 ? name.slice(0, dot) : name.slice(0, 63);
}

function textOf({ status, text }: MetadataAnswer, url: string): string {
  if (status === 200) return text;
  throw new Error(`${url} returned status ${status}`);
}

async function withRetries(cloud: string, { clock, signal }: Limits, request: () => Promise<string>): Promise<string> {
  let last: unknown;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      last = error;
    }
    if (attempt < maxAttempts) await clock.sleep(pauseMs, signal);
  }
  throw unknownName(cloud, last);
}

function unknownName(cloud: string, cause: unknown): AppError {
  return new AppError('HOST_VALUE_UNKNOWN', `host name in ${cloud} cannot be determined: ${messageOf(cause)}`, {
    remedy: `Make sure that the host can reach ${server}; check its routes with: route.exe print.`,
    cause,
  });
}

/** Checks a host name, because it becomes part of a command line. */
export function hostNameOf(answer: string, source: string): string {
  // A cloud network with several domains returns one name for each.
  const [name = ''] = answer.trim().split(/\s+/);
  if (isHostName(name)) return name;
  throw new AppError(
    'HOST_VALUE_UNKNOWN',
    `${shown(answer.trim())}, the name of this host in ${source}, is not a host name`,
    {
      remedy: 'Rename the host: use letters, digits and hyphens, with or without a DNS domain.',
    },
  );
}
