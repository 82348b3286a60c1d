import { isNodeName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { runOnHost } from '#base/powershell.ts';
import { isIp } from '#base/ipv4.ts';
import { nodeAnnotation, operatorAnnotations } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { type Reserved, reservedProblem } from '#contract/reserved.ts';

/** Everything that decides whether a host may register a name. */
export interface NameFacts {
  /** How messages name the host. */
  address: string;
  /** The host is taken over from another instance, whose record has its key and this name. */
  isTakenOver?: boolean;
  /** Name that the kubelet would register. */
  name: string;
  /** Why the host does not know its name. */
  problems: readonly string[];
  reserved: Reserved;
  /** Another instance that has the name. */
  holder: string | undefined;
  /** Another machine that has the name: an instance, a Machine or a control plane. */
  addressOf: string | undefined;
  /** First label that the name must have, if `spec.hostname` decides it. */
  wantedLabel: string | undefined;
  /** Address that was dialed. */
  dialed: string | undefined;
  /** Names that the cloud gave to the Machine of the host; undefined to allow any. */
  machineNames: readonly string[] | undefined;
  /** Name in the record of the instance. */
  recorded: RecordedName | undefined;
  /** Node of the name. */
  node: NodeView | undefined;
  /** Another instance, at whose address the Node is by its own report. */
  nodeOf?: string | undefined;
  /** Base64 of the key that the host showed. */
  hostKey: string;
}

interface RecordedName {
  name: string;
  hasNode: boolean;
  /** Whether the host may hold a kubelet certificate for it. */
  isCertified: boolean;
}

type Rule = (facts: NameFacts) => AppError | undefined;

/** Why the host is not allowed to register the name; undefined when it is. Checked before anything is installed. */
export function checkName(facts: NameFacts): AppError | undefined {
  for (const rule of rules) {
    const problem = rule(facts);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const isKnown: Rule = ({ address, name, problems }) =>
  name !== ''
    ? undefined
    : new AppError('HOST_VALUE_UNKNOWN', `${address}: the node name of the host is unknown: ${problems.join('; ')}`, {
        remedy: 'Make the metadata service of its cloud reachable from the host, or set a host name.',
      });

const isValid: Rule = ({ address, name }) =>
  isNodeName(name)
    ? undefined
    : new AppError('HOST_NAME_INVALID', `${address}: ${shown(name)} is not a valid Node name`, {
        remedy: `${runOnHost(`Rename-Computer -NewName ${validName(name)} -Restart`)}, or choose another name of 1 to 15 letters, digits and hyphens that starts and ends with a letter or digit.`,
      });

/** The most similar computer name. */
function validName(name: string): string {
  const similar = name
    .replaceAll(/[^a-z0-9]+/gi, '-')
    .slice(0, 15)
    .replaceAll(/^-|-$/g, '');
  return similar === '' ? 'win-1' : similar;
}

/** A name that looks like an address would put the address of another host into a certificate. */
const isFree: Rule = ({ address, name, reserved }) => {
  const problem = reservedProblem(name, reserved) ?? (isIp(name) ? 'is an address' : undefined);
  if (problem === undefined) return undefined;
  return new AppError('NODE_NAME_FORBIDDEN', `${address}: the host name ${name} ${problem}`, {
    remedy: 'Rename the host; find out who gave it this name.',
  });
};

const isClaimable: Rule = ({ address, name, holder }) =>
  holder === undefined
    ? undefined
    : new AppError('NODE_NAME_TAKEN', `${address}: the host name ${name} is already the Node of ${holder}`, {
        remedy: 'Rename one of the two hosts, or remove one of the two instances if they are the same host.',
      });

/**
 * Serving certificates contain the name, so it must not belong to another machine. A recorded name is exempt: otherwise one host
 * could lock out another.
 */
const isNoAddress: Rule = ({ address, name, addressOf, recorded }) =>
  addressOf === undefined || recorded?.name === name
    ? undefined
    : new AppError('NODE_NAME_TAKEN', `${address}: the host name ${name} belongs to ${addressOf}`, {
        remedy: 'Rename the host; find out who gave it this name.',
      });

const isWanted: Rule = ({ address, name, wantedLabel }) =>
  wantedLabel === undefined || name.split('.', 1)[0] === wantedLabel
    ? undefined
    : new AppError('NODE_NAME_CHANGED', `${address}: the host name is ${name}, but spec.hostname is ${wantedLabel}`, {
        remedy: 'Correct spec.hostname, or find out what renames the host.',
      });

const isOfMachine: Rule = ({ address, name, machineNames }) => {
  if (machineNames === undefined || machineNames.some(each => normalHostName(each) === name)) return undefined;
  return new AppError(
    'NODE_NAME_CHANGED',
    `${address}: the host name is ${name}, but that of its Machine is ${machineNames.join(' or ')}`,
    {
      remedy:
        'Find out who renamed the host. If a MachineSet owns the Machine, delete the Machine, and the set creates a new one.',
    },
  );
};

const isUnchanged: Rule = ({ address, name, recorded }) => {
  if (recorded === undefined || recorded.name === name || !(recorded.hasNode || recorded.isCertified)) return undefined;
  const rejoin = recorded.isCertified
    ? `remove the host (its entry of windows-instances, or its WindowsInstance) and add it again to let it join as ${name}`
    : `delete Node ${recorded.name} to let it join as ${name}`;
  return new AppError(
    'NODE_NAME_CHANGED',
    `${address}: the host name is ${name}, but the host joined as ${recorded.name}`,
    {
      remedy: `Rename the host back to ${recorded.name}, or ${rejoin}.`,
    },
  );
};

/** A Node that is not recorded is adopted only if this operator configured it and the host shows the same SSH host key. */
const isOwnNode: Rule = ({ address, name, recorded, node, hostKey, dialed, isTakenOver = false }) => {
  if (node === undefined || recorded?.name === name || isTakenOver) return undefined;
  const problem = foreignNode(node, hostKey, dialed);
  if (problem === undefined) return undefined;
  return new AppError('HOST_NAME_TAKEN', `${address}: Node ${name} ${problem}`, {
    remedy: `Rename the host, or delete Node ${name} if it is this host from an earlier installation.`,
  });
};

/**
 * Agents of the Go operator could write every Node, and so the host key of their host on the Node of another one. A matching address
 * proves nothing, but a Node that is at the address of another instance alone is probably that one.
 */
const isNotAtOther: Rule = ({ address, name, recorded, node, nodeOf, dialed, isTakenOver = false }) => {
  if (node === undefined || nodeOf === undefined || recorded?.name === name || isTakenOver) return undefined;
  if (node.addresses.some(each => each.address === dialed)) return undefined;
  return new AppError(
    'HOST_NAME_TAKEN',
    `${address}: Node ${name} is not at this address, but at that of WindowsInstance ${nodeOf}`,
    { remedy: `Rename the host, and find out who gave it the name and wrote its SSH host key on Node ${name}.` },
  );
};

export function foreignNode(node: NodeView, hostKey: string, dialed: string | undefined): string | undefined {
  if (!isWindowsNode(node)) return 'is not a Windows node';
  // A Node that registered again after a forced removal has lost its annotations.
  const isOwn = node.isRemoved === true || operatorAnnotations.some(name => Object.hasOwn(node.annotations, name));
  if (!isOwn) return 'was not configured by this operator';
  const pinned = node.annotations[nodeAnnotation.sshHostKey] ?? '';
  if (pinned !== '') return pinned === hostKey ? undefined : 'was configured with another SSH host key';
  // Earlier operators stored no key on the Node, and a Node that registers again has none. A matching address proves nothing, but a different one shows another host.
  const hasAddress = node.addresses.some(each => each.address === dialed);
  return hasAddress ? undefined : 'has no SSH host key and does not report the address of the host';
}

const rules: readonly Rule[] = [
  isKnown,
  isValid,
  isFree,
  isClaimable,
  isNoAddress,
  isWanted,
  isOfMachine,
  isUnchanged,
  isOwnNode,
  isNotAtOther,
];

/** The host that answers has another name than the one that joined: it may be a clone. */
export function otherName(address: string, name: string, recorded: string): AppError {
  return new AppError('NODE_NAME_CHANGED', `${address}: the host name is ${name}, but it joined as ${recorded}`, {
    remedy: `Rename the host back to ${recorded}.`,
  });
}
