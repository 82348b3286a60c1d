import { fromBase64, fromUtf8, toBase64 } from '../../../src/base/bytes.ts';
import { Secret } from '../../../src/base/secret.ts';
import { readObject } from '../../../src/contract/object.ts';
import { privateKeyFromSecret } from '../../../src/node/inputs/private-key.ts';
import { checkStrength, parseAuthorizedKey } from '../../../src/host/keys/public-key.ts';
import {
  clusterApiCopy,
  isUserDataSecret,
  type UserDataSecret,
  userDataSecret,
  wrapUserData,
} from '../../../src/node/desired/user-data/user-data.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  wrapUserData: (input: Input) => ({ value: wrapUserData(input.platform, input.script) }),
  isUserDataSecret: (input: Input) => ({ value: isUserDataSecret(input.name, input.namespace) }),
  generatedUserData: (input: Input) => {
    const { metadata, data } = userDataSecret(input.platform, input.authorizedKey);
    return { secret: { ...metadata, key: Object.keys(data).join() }, text: decoded(data) };
  },
  mirrorToClusterApi: ({ source, existing }: Input) => {
    const copy = clusterApiCopy(secretOf(source), existing ? readObject(secretOf(existing)) : undefined);
    const { name, namespace } = copy.secret.metadata;
    return { result: { name, namespace, userData: decoded(copy.secret.data) }, written: copy.write };
  },
  publicKeyStrength: (input: Input) => {
    checkStrength(parseAuthorizedKey(input.authorizedKey));
    return { ok: true };
  },
  privateKeyFromSecret: ({ secret }: Input) => {
    const data = Object.entries(secret?.data ?? {}).map(([key, value]) => [key, new Secret(value as string)]);
    return {
      value: privateKeyFromSecret(Object.fromEntries(data), `Secret ${secret?.namespace}/${secret?.name}`).reveal(),
    };
  },
};

function secretOf({ userData, name = 'windows-user-data', ...metadata }: Input): UserDataSecret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...metadata },
    data: { userData: toBase64(userData ?? '') },
  };
}

function decoded(data: Record<string, string>): string | undefined {
  return fromUtf8(fromBase64(data['userData'] ?? '') ?? new Uint8Array());
}
