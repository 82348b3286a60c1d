import type { Client, ClientChannel } from 'ssh2';
import type { CommandResult, OutputStream } from '../host.ts';
import { commandRefused, connectionLost, noExitCode, outputTooLong } from './operation-failures.ts';

export interface CommandRun {
  address: string;
  command: string;
  maxOutputBytes: number;
  onOutput: ((text: string, stream: OutputStream) => void) | undefined;
  /** When aborted, the command is killed on the host if the server can do that. */
  signal: AbortSignal;
}

export async function runCommand(client: Client, run: CommandRun): Promise<CommandResult> {
  const { address, command } = run;
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  try {
    client.exec(command, (error, channel) => {
      if (error) reject(commandRefused(address, command, error));
      // At once: the exit code may be in the same packet.
      else resolve(follow(channel, run));
    });
  } catch (error) {
    // The library throws when the connection is lost before it has emitted an event.
    reject(connectionLost(address, error));
  }
  return promise;
}

async function follow(channel: ClientChannel, run: CommandRun): Promise<CommandResult> {
  const stop = () => kill(channel);
  run.signal.addEventListener('abort', stop, { once: true });
  try {
    const result = collect(channel, run);
    // PowerShell waits for standard input until it is closed.
    channel.end();
    if (run.signal.aborted) stop();
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
    const collector = (stream: OutputStream) => (bytes: Buffer) => {
      // An error thrown here would end the whole connection.
      try {
        output.add(stream, bytes);
      } catch (error) {
        reject(error);
      }
    };
    channel.on('data', collector('stdout'));
    channel.stderr.on('data', collector('stderr'));
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

  /** Bytes that are not UTF-8, such as messages in the console's code page, become replacement characters. */
  text(stream: OutputStream): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks[stream]));
  }
}

/** Internals of a channel that its type does not declare. */
interface ChannelParts {
  outgoing?: { id?: number; state?: string };
  _client?: { _protocol?: { signal?: (channel: number, signal: string) => void } };
}

/** Kills the command on the host, if the server can do that, and closes its channel. */
function kill(channel: ClientChannel): void {
  const { outgoing, _client } = channel as ChannelParts;
  try {
    // The library sends no signal once standard input has ended, though SSH allows it.
    if (outgoing?.id !== undefined && ['open', 'eof'].includes(outgoing.state ?? ''))
      _client?._protocol?.signal?.(outgoing.id, 'KILL');
    channel.close();
  } catch {
    // The connection is closed, and with it the channel.
  }
}
