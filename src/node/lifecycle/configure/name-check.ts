import { isNodeName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIp } from '#base/ipv4.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { type Reserved, reservedProblem } from '#contract/reserved.ts';

/** What decides whether a host may register under a name. */
export interface NameFacts {
  /** How messages name the host. */
  address: string;
  /** Name that the kubelet of the host registers. */
  name: string;
  /** Why the host does not know its name. */
  problems: readonly string[];
  reserved: Reserved;
  /** Another instance that has the name. */
  holder: string | undefined;
  /** Another machine that has the name: an instance, a Machine or a control plane. */
  addressOf: string | undefined;
  /** First label that the name must have, where `spec.hostname` decides it. */
  wantedLabel: string | undefined;
  /** Address that was dialed. */
  dialed: string | undefined;
  /** Names that the cloud has given to the Machine behind the host; undefined where any will do. */
  machineNames: readonly string[] | undefined;
  /** Name in the record of the instance. */
  recorded: RecordedName | undefined;
  /** Node of the name. */
  node: NodeView | undefined;
  /** Base64 of the key the host has shown. */
  hostKey: string;
}

interface RecordedName {
  name: string;
  hasNode: boolean;
  /** Whether the host may hold a kubelet certificate for it. */
  isCertified: boolean;
}

type Rule = (facts: NameFacts) => AppError | undefined;

/** Why the host may not register under the name; undefined when it may. Decided before anything is installed. */
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
    : new AppError('HOST_VALUE_UNKNOWN', `${address}: the node name of the host is not known: ${problems.join('; ')}`, {
        remedy: 'Let the host reach the metadata service of its cloud, or give it a host name.',
      });

const isValid: Rule = ({ address, name }) =>
  isNodeName(name)
    ? undefined
    : new AppError('HOST_NAME_INVALID', `${address}: ${shown(name)} cannot be the name of a Node`, {
        remedy: 'Rename the host: letters, digits and hyphens, beginning and ending with a letter or digit.',
      });

/** An address as a name would be proven like a name, and be somebody else's address in a certificate. */
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
    : new AppError('NODE_NAME_TAKEN', `${address}: the host is called ${name}, which is the Node of ${holder}`, {
        remedy: `Rename one of the two hosts, or remove one of the two instances if they are one host.`,
      });

/**
 * A name is a name in a serving certificate, so it must not be that of another machine. It never
 * counts against a name that is recorded already: otherwise one host could lock out another.
 */
const isNoAddress: Rule = ({ address, name, addressOf, recorded }) =>
  addressOf === undefined || recorded?.name === name
    ? undefined
    : new AppError('NODE_NAME_TAKEN', `${address}: the host is called ${name}, which is a name of ${addressOf}`, {
        remedy: 'Rename the host; find out who gave it this name.',
      });

const isWanted: Rule = ({ address, name, wantedLabel }) =>
  wantedLabel === undefined || name.split('.', 1)[0] === wantedLabel
    ? undefined
    : new AppError('NODE_NAME_CHANGED', `${address}: the host is called ${name}, but spec.hostname is ${wantedLabel}`, {
        remedy: 'Correct spec.hostname, or find out who gives the host another name.',
      });

const isOfMachine: Rule = ({ address, name, machineNames }) => {
  if (machineNames === undefined || machineNames.some(each => normalHostName(each) === name)) return undefined;
  return new AppError(
    'NODE_NAME_CHANGED',
    `${address}: the host is called ${name}, but its Machine ${machineNames.join(' or ')}`,
    { remedy: 'Delete the Machine so that its MachineSet creates a new one; find out who renamed the host.' },
  );
};

const isUnchanged: Rule = ({ address, name, recorded }) => {
  if (recorded === undefined || recorded.name === name || !(recorded.hasNode || recorded.isCertified)) return undefined;
  const anew = recorded.isCertified
    ? `remove the host (its entry of windows-instances, or its WindowsInstance) and add it again to let it join as ${name}`
    : `delete Node ${recorded.name} to let it join as ${name}`;
  return new AppError('NODE_NAME_CHANGED', `${address}: the host is called ${name}, but joined as ${recorded.name}`, {
    remedy: `Rename the host back to ${recorded.name}, or ${anew}.`,
  });
};

/** A Node that the record does not know is taken over only if it was set up by us, with the key that the host shows. */
const isOwnNode: Rule = ({ address, name, recorded, node, hostKey, dialed }) => {
  if (node === undefined || recorded?.name === name) return undefined;
  const problem = foreignNode(node, hostKey, dialed);
  if (problem === undefined) return undefined;
  return new AppError('HOST_NAME_TAKEN', `${address}: Node ${name} ${problem}`, {
    remedy: `Rename the host, or delete Node ${name} if it is this host from an earlier installation.`,
  });
};

function foreignNode(node: NodeView, hostKey: string, dialed: string | undefined): string | undefined {
  if (!isWindowsNode(node)) return 'is not a Windows node';
  if (!marks.some(mark => Object.hasOwn(node.annotations, mark))) return 'was not set up by this operator';
  const pinned = node.annotations[nodeAnnotation.sshHostKey] ?? '';
  if (pinned !== '') return pinned === hostKey ? undefined : 'was set up with another SSH host key';
  // Operators of before kept no key on the Node. Its address proves nothing for the host, but another one speaks against it.
  const hasAddress = node.addresses.some(each => each.address === dialed);
  return hasAddress ? undefined : 'has no SSH host key and does not report the address of the host';
}

const marks = [nodeAnnotation.pubKeyHash, nodeAnnotation.desiredVersion, nodeAnnotation.version];

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
];
