import { normalHostName } from '#base/dns-name.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { byAge, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { addressProblem, usernameProblem } from '#contract/instances.ts';
import { ports } from '#contract/names.ts';
import { isComputerName } from '#contract/windows-instance/computer-name.ts';
import { parseAuthorizedKey } from '#host/keys/public-key.ts';

export interface AcceptanceFacts {
  instance: WindowsInstance;
  /** What is wrong with its entry of windows-instances. */
  entryProblem: AppError | undefined;
  /** What is wrong with the Secret in `spec.keySecret`. */
  keyProblem: AppError | undefined;
  /** Instances of the same host, perhaps with this one among them. */
  rivals: readonly WindowsInstance[];
}

/** Why the host is rejected; undefined when it is accepted. */
export function acceptanceProblem(facts: AcceptanceFacts): AppError | undefined {
  return (
    facts.entryProblem ??
    checkAddress(facts.instance) ??
    checkUsername(facts.instance) ??
    checkHostname(facts.instance) ??
    checkHostKey(facts.instance) ??
    facts.keyProblem ??
    checkRivals(facts)
  );
}

function checkAddress(instance: WindowsInstance): AppError | undefined {
  const { address } = instance.spec;
  const problem = addressProblem(address);
  if (problem === undefined) return undefined;
  return new AppError('INSTANCE_ADDRESS_INVALID', `${labelOf(instance)}: spec.address ${shown(address)} ${problem}`, {
    remedy: 'Set spec.address to the IPv4 address of the host or to a DNS name that resolves to it.',
  });
}

/** The CRD requires it, but the object may be older. */
function checkUsername(instance: WindowsInstance): AppError | undefined {
  const { username } = instance.spec as { username?: string };
  const problem = usernameProblem(username ?? '');
  if (problem === undefined) return undefined;
  return new AppError('INSTANCE_USERNAME_INVALID', `${labelOf(instance)}: spec.username ${problem}`, {
    remedy: 'Set spec.username to a Windows user with administrator rights, for example Administrator.',
  });
}

/** The CRD has the same pattern, but the object may be older. */
function checkHostname(instance: WindowsInstance): AppError | undefined {
  const { hostname } = instance.spec;
  if (hostname === undefined || isComputerName(hostname)) return undefined;
  return new AppError(
    'INSTANCE_HOSTNAME_INVALID',
    `${labelOf(instance)}: spec.hostname ${shown(hostname)} cannot be a computer name`,
    { remedy: 'Set spec.hostname to 1 to 15 letters, digits and hyphens, with no hyphen first or last, or remove it.' },
  );
}

function checkHostKey(instance: WindowsInstance): AppError | undefined {
  const text = instance.spec.hostKey?.trim() ?? '';
  const read = attempt(() => (text === '' ? undefined : parseAuthorizedKey(text)));
  if (read.ok) return undefined;
  return new AppError('HOST_KEY_UNREADABLE', `${labelOf(instance)}: spec.hostKey: ${read.error.message}`, {
    remedy: 'Set it to `<type> <base64>`, as `ssh-keyscan` prints after the name of the host.',
  });
}

/** Of several instances of one host the one that joined is accepted, else the oldest. */
function checkRivals({ instance, rivals }: AcceptanceFacts): AppError | undefined {
  const [first] = [instance, ...rivals.filter(other => !isSame(other, instance))]
    .filter(other => other.metadata.deletionTimestamp === undefined)
    .sort((one, other) => Number(hasJoined(other)) - Number(hasJoined(one)) || byAge(one, other));
  if (first === undefined || isSame(first, instance)) return undefined;
  const message = `${labelOf(instance)}: ${instance.spec.address} is the same host as ${labelOf(first)}`;
  return new AppError('INSTANCE_DUPLICATE', `${message} (${first.spec.address})`, {
    remedy: `Remove one of the two; ${first.metadata.name} is used.`,
  });
}

/** Addresses with port; two instances that share one are the same host. */
export function hostsOf({ spec, status }: WindowsInstance, ipv4s: readonly string[] = []): string[] {
  const resolved = isIpv4(spec.address) || status?.ipv4 === undefined ? [] : [status.ipv4];
  const addresses = [normalHostName(spec.address), ...resolved, ...ipv4s];
  return addresses.map(address => `${address}:${spec.port ?? ports.ssh}`);
}

/** The instances of a list that are the same host as this one. */
export function rivalsAmong(
  all: readonly WindowsInstance[],
  instance: WindowsInstance,
  ipv4s: readonly string[] = [],
): WindowsInstance[] {
  const own = new Set(hostsOf(instance, ipv4s));
  return all.filter(other => hostsOf(other).some(host => own.has(host)));
}

/** Whether host key and name are recorded: then no other instance can take over the host. */
function hasJoined({ status }: WindowsInstance): boolean {
  return status?.host !== undefined && status.hostKey !== undefined;
}

function isSame(one: WindowsInstance, other: WindowsInstance): boolean {
  return one.metadata.name === other.metadata.name;
}

function labelOf({ metadata }: WindowsInstance): string {
  return `WindowsInstance ${metadata.name}`;
}
