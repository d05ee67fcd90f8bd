/** Where a part writes what an operator should know; a pino logger is one. A part asks for the levels that it uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
