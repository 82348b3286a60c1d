import { attempt } from '../../../src/base/errors.ts';
import { openUsername, sealUsername } from '../../../src/host/keys/username-seal.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  decrypt: (input: Input) => ({ plaintext: openUsername(input.ciphertext, input.key ?? undefined) }),
  encryptThenDecrypt: (input: Input) => {
    const sealed = attempt(() => sealUsername(input.plaintext, input.encryptKey ?? undefined));
    if (!sealed.ok) return { encryptError: true, decryptError: false };
    const opened = attempt(() => openUsername(sealed.value, input.decryptKey ?? undefined));
    return { encryptError: false, decryptError: !opened.ok, plaintext: opened.ok ? opened.value : undefined };
  },
  encryptedForm: (input: Input) => {
    const [value, again] = [sealUsername(input.plaintext, input.key), sealUsername(input.plaintext, input.key)];
    return { value, differsOnEachCall: value !== again };
  },
};
