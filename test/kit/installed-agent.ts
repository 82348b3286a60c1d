import { agentCommands } from '../../src/contract/agent-command.ts';
import { file } from '../../src/contract/paths.ts';

/** Command lines for the agent at the path where services run it. */
export const installedAgent = agentCommands(file.agent);
