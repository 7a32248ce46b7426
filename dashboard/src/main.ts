import { requestEarly } from './api.js';
import './app.css';
import { loadScreenOf } from './screens.js';

// The session and the screen load beside the application, which is ten times as large as they are.
requestEarly('/v1/auth/session');
loadScreenOf(location.pathname);
void import('./app.js');
