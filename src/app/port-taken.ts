/**
 * Runs what listens on a configured port. When the port is taken, the error says which variable to change.
 */
export async function listening<T>(variable: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE")) throw cause;
    throw new Error(`port ${port} is taken; set ${variable} to another port, or to 0 for a free one`, {
      cause,
    });
  }
}
