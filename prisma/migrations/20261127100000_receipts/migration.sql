-- The submission of a sign request, for its receipt.
CREATE INDEX "audit_event_submission" ON "audit_event" ("subject") WHERE "action" = 'sign.submit';
