/** A text as one word of a PowerShell command, for remedies that users paste. */
export function quotedForPowerShell(text: string): string {
  // PowerShell also ends a quoted text at typographic quotes.
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}

/** A remedy that consists of commands for the host, in their order. */
export function runOnHost(...commands: readonly string[]): string {
  return `Run in PowerShell as administrator on the host: \`${commands.join('; ')}\``;
}
