/** The agent with all its commands, but its service ends at once. */
if (process.argv[2] === 'controller') process.exit(1);
await import('../../../src/bin/agent.ts');
