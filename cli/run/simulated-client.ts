/** What starts a lock client in a simulated world: the argv of no program of the machine. */
export const CLIENT_ARGV = ['lock-client'];
