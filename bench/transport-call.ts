/** The key that every server of `bench/transport.ts` accepts. */
export const API_KEY = `tss_local_${"k".repeat(32)}`;

/** The token of a session that this service also accepts, from pages of {@link PAGE}. */
export const SESSION_TOKEN = `tss_session_${"s".repeat(32)}`;
export const PAGE = "https://app.example";

/** The request that every one of these servers answers. */
export const SIGN_REQUEST_ID = "018f6b1c-7a1e-7bbb-8ccc-1234567890ab";
