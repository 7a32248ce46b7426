// The functions of the spec file that is running.
exports.current = { globals: {} };
