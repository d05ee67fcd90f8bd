/** Runs a function that listens on a configured port. If the port is taken, the error names the variable to change. */
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
