import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../tools/bundle.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import { defaultRelease } from '../../test/kit/sandbox-operator.ts';
import { Child } from './child.ts';
import type { OperatorOptions } from './operator-process.ts';
import { writePayload } from './payload-folder.ts';

const source = fileURLToPath(import.meta.resolve('./operator-process.ts'));

interface ProgramOptions {
  payloadBytes: number;
  namespace: string;
  /** One by default. */
  releases?: readonly PayloadRelease[];
}

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
    { payloadBytes, namespace, releases = [defaultRelease] }: ProgramOptions,
  ): Promise<OperatorProgram> {
    for (const release of releases) await writePayload(join(folder, release.version), release, payloadBytes);
    await bundle(source, join(folder, 'operator.mjs'));
    for (const [name, text] of Object.entries(kubeconfigs))
      writeFileSync(join(folder, `${name}.kubeconfig`), text, { mode: 0o600 });
    return new OperatorProgram(folder, namespace);
  }

  start({ version } = defaultRelease): Child {
    const options: OperatorOptions = {
      version,
      namespace: this.#namespace,
      kubeconfigFile: join(this.#folder, 'operator.kubeconfig'),
      networkKubeconfigFile: join(this.#folder, 'network.kubeconfig'),
      payloadFolder: join(this.#folder, version),
      cacheFolder: join(this.#folder, `${version}-cache`),
    };
    return new Child(join(this.#folder, 'operator.mjs'), options, join(this.#folder, 'operator.log'));
  }
}
