import type { ActivationStatus } from '../../../src/contract/activation.ts';
import { parseHeader, preambleBytes, readPreamble } from '../../../src/contract/bundle.ts';
import type { InventorySet, InventorySets } from '../../../src/contract/inventory.ts';
import { agentProgram, agentProgramHash, file } from '../../../src/contract/paths.ts';
import type { CommandResult } from '../../../src/host/host.ts';
import type { ModelHost } from '../model-host.ts';

/** The sets of files of a host and the swaps between them, without their files. */
export class LabSets {
  sets: InventorySets = {};
  readonly copies = new Set<string>();
  status: ActivationStatus = { state: 'idle', version: '' };
  /** How a swap to a version ends. */
  outcome: (version: string) => 'done' | 'reverted' | 'failed' = () => 'done';
  swapMs = 10;
  /** Versions that were put in place by a swap, in order. */
  readonly swaps: string[] = [];
  /** Called when the host runs other files. */
  onSwap: () => void = () => undefined;
  readonly #model: ModelHost;

  constructor(model: ModelHost) {
    this.#model = model;
  }

  /** Undefined for a verb that the agent itself carries out. */
  run(program: string, words: readonly string[]): CommandResult | undefined {
    const [verb] = words;
    const of = (flag: string) => words[words.indexOf(flag) + 1] ?? '';
    if (verb === 'stage') this.#keep(program, of('--bundle'), words.includes('--next'));
    if (verb === 'stage' && words.includes('--next')) return printed({});
    if (verb === 'activation') return printed(this.status);
    if (verb !== 'activate') return undefined;
    const [set, version] = [of('--set') as 'next' | 'previous', of('--desired-version')];
    const chosen = this.sets[set];
    if (this.sets.current?.version === version || this.status.state === 'running') return printed(this.status);
    if (chosen?.version !== version || chosen.agent !== agentProgramHash(program)) {
      const error = { code: 'ACTIVATION_FAILED', message: `no set ${set} of ${version}`, remedy: 'Stage it.' };
      return { ...printed({ error }), exitCode: 1 };
    }
    this.#swap(set, chosen);
    return printed(this.status);
  }

  inventory(data: Record<string, unknown>): object {
    return { ...data, sets: this.sets, copies: [...this.copies] };
  }

  #keep(program: string, path: string, isNext: boolean): void {
    const bytes = this.#model.fileTexts.get(path);
    if (bytes === undefined) return;
    const content = Buffer.from(bytes);
    const end = preambleBytes + readPreamble(content.subarray(0, preambleBytes));
    const { version, entries, next } = parseHeader(content.subarray(preambleBytes, end));
    for (const { sha256 } of entries) this.copies.add(sha256);
    const lacks = next?.files.find(({ sha256 }) => !this.copies.has(sha256));
    if (lacks !== undefined) throw new Error(`there is no copy of ${lacks.path}`);
    const bundle = path.split('\\').at(-1) ?? '';
    if (isNext) {
      this.sets.next = { version, agent: next?.agent ?? '', bundle };
      this.#model.fileTexts.delete(path);
    } else this.sets.current = { version, agent: agentProgramHash(program) ?? '', bundle };
  }

  #swap(set: 'next' | 'previous', chosen: InventorySet): void {
    const before = this.sets.current;
    this.status = { state: 'running', version: before?.version ?? '', doing: 'stopping services' };
    const state = this.outcome(chosen.version);
    setTimeout(() => {
      if (state === 'done') {
        const { [set]: _used, ...others } = this.sets;
        this.sets = { ...others, current: chosen, ...(before && { previous: before }) };
        this.swaps.push(chosen.version);
        const program = this.#model.fileTexts.get(agentProgram(chosen.agent));
        if (program !== undefined) this.#model.fileTexts.set(file.agent, program);
      }
      const problem = state === 'done' ? {} : { problem: 'the new agent did not report' };
      this.status = { state, version: this.sets.current?.version ?? '', ...problem };
      this.onSwap();
    }, this.swapMs);
  }
}

function printed(value: object): CommandResult {
  return { exitCode: 0, stdout: JSON.stringify(value), stderr: '' };
}
