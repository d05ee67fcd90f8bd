-- The events of an action, of every project and of one. The two actions of nearly every signature are left out: they are
-- found quickly without an index, and a signature would pay for it.
CREATE INDEX "audit_event_action" ON "audit_event" ("action", "id") WHERE "action" NOT IN ('sign.reserve', 'sign.submit');
CREATE INDEX "audit_event_project_action" ON "audit_event" ("project_id", "action", "id") WHERE "action" NOT IN ('sign.reserve', 'sign.submit');
