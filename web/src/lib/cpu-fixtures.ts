/** The processor's time of this process, in milliseconds: what a test may bound, however much else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
