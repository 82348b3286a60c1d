/** At least so much, such as `4.2 GB`. */
export function gigabytesText(bytes: number): string {
  return `${(Math.ceil(bytes / 1e8) / 10).toFixed(1)} GB`;
}

/** How to get more space on a host, such as `4.2 GB`. */
export function diskRemedy(missing: string): string {
  return (
    `Free ${missing} more on drive C: of the host, for example with ` +
    '`Dism.exe /Online /Cleanup-Image /StartComponentCleanup`, or enlarge its disk and run ' +
    '`Resize-Partition -DriveLetter C -Size (Get-PartitionSupportedSize -DriveLetter C).SizeMax`.'
  );
}
