import type { Client, ClientChannel } from 'ssh2';
import type { CommandResult, OutputStream } from '../host.ts';
import { commandRefused, connectionLost, noExitCode, outputTooLong } from './operation-failures.ts';

export interface CommandRun {
  address: string;
  command: string;
  maxOutputBytes: number;
  onOutput: ((text: string, stream: OutputStream) => void) | undefined;
  /** When aborted, the command is ended on the host as well as it can be. */
  end: AbortSignal;
}

/** Runs one command to its end. */
export async function runCommand(client: Client, run: CommandRun): Promise<CommandResult> {
  const { address, command } = run;
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  try {
    client.exec(command, (error, channel) => {
      if (error) reject(commandRefused(address, command, error));
      // Right here and not a moment later: the exit code may be in the same packet.
      else resolve(follow(channel, run));
    });
  } catch (error) {
    // The library notices that the other end is gone a moment before it says so.
    reject(connectionLost(address, error));
  }
  return promise;
}

async function follow(channel: ClientChannel, run: CommandRun): Promise<CommandResult> {
  const stop = () => kill(channel);
  run.end.addEventListener('abort', stop, { once: true });
  try {
    const result = collect(channel, run);
    // Without an end of standard input PowerShell may wait for more of it.
    channel.end();
    if (run.end.aborted) stop();
    return await result;
  } catch (error) {
    stop();
    throw error;
  }
}

function collect(channel: ClientChannel, run: CommandRun): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const { address, command } = run;
    const output = new Output(run);
    let exit: { code: number | null | undefined; signal: string | undefined } | undefined;
    const take = (stream: OutputStream) => (bytes: Buffer) => {
      // An error thrown here would take the whole connection with it.
      try {
        output.add(stream, bytes);
      } catch (error) {
        reject(error);
      }
    };
    channel.on('data', take('stdout'));
    channel.stderr.on('data', take('stderr'));
    channel.on('exit', (code: number | null | undefined, signal?: string) => {
      exit = { code, signal };
    });
    channel.on('close', () => {
      if (typeof exit?.code !== 'number') return reject(noExitCode(address, command, exit?.signal));
      resolve({ exitCode: exit.code, stdout: output.text('stdout'), stderr: output.text('stderr') });
    });
  });
}

/** Collects both streams up to a limit. */
class Output {
  readonly #run: CommandRun;
  readonly #chunks: Record<OutputStream, Buffer[]> = { stdout: [], stderr: [] };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #bytes = 0;

  constructor(run: CommandRun) {
    this.#run = run;
  }

  add(stream: OutputStream, bytes: Buffer): void {
    const { address, command, maxOutputBytes, onOutput } = this.#run;
    this.#bytes += bytes.length;
    if (this.#bytes > maxOutputBytes) throw outputTooLong(address, command, maxOutputBytes);
    this.#chunks[stream].push(bytes);
    onOutput?.(this.#decoders[stream].decode(bytes, { stream: true }), stream);
  }

  /** What is not UTF-8, such as a message in the code page of the console, becomes replacement characters. */
  text(stream: OutputStream): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks[stream]));
  }
}

/** Parts of a channel that its type does not show. */
interface ChannelParts {
  outgoing?: { id?: number; state?: string };
  _client?: { _protocol?: { signal?: (channel: number, signal: string) => void } };
}

/** Ends the command on the host, where the server can do that, and gives up its channel. */
function kill(channel: ClientChannel): void {
  const { outgoing, _client } = channel as ChannelParts;
  try {
    // The library sends no signal once standard input has ended, though SSH allows it.
    if (outgoing?.id !== undefined && ['open', 'eof'].includes(outgoing.state ?? ''))
      _client?._protocol?.signal?.(outgoing.id, 'KILL');
    channel.close();
  } catch {
    // The connection is over, and with it the channel.
  }
}
