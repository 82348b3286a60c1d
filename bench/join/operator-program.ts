import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../tools/bundle.ts';
import { Child } from './child.ts';
import type { OperatorOptions } from './operator-process.ts';
import { writePayload } from './payload-folder.ts';

const source = fileURLToPath(import.meta.resolve('./operator-process.ts'));

/** The operator as a bundled program with its payload in a folder. */
export class OperatorProgram {
  readonly #folder: string;
  readonly #namespace: string;

  private constructor(folder: string, namespace: string) {
    this.#folder = folder;
    this.#namespace = namespace;
  }

  /** The kubeconfig `network` is for what the operator reads from the sandbox instead of a network. */
  static async build(
    folder: string,
    kubeconfigs: { operator: string; network: string },
    { payloadBytes, namespace }: { payloadBytes: number; namespace: string },
  ): Promise<OperatorProgram> {
    await writePayload(join(folder, 'payload'), payloadBytes);
    await bundle(source, join(folder, 'operator.mjs'));
    for (const [name, text] of Object.entries(kubeconfigs))
      writeFileSync(join(folder, `${name}.kubeconfig`), text, { mode: 0o600 });
    return new OperatorProgram(folder, namespace);
  }

  start(): Child {
    const options: OperatorOptions = {
      namespace: this.#namespace,
      kubeconfigFile: join(this.#folder, 'operator.kubeconfig'),
      networkKubeconfigFile: join(this.#folder, 'network.kubeconfig'),
      payloadFolder: join(this.#folder, 'payload'),
      cacheFolder: join(this.#folder, 'cache'),
    };
    return new Child(join(this.#folder, 'operator.mjs'), options, join(this.#folder, 'operator.log'));
  }
}
