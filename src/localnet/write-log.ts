/** Writes a line of the log. */
export type WriteLog = (message: string, fields: Readonly<Record<string, unknown>>) => void;
