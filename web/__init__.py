"""The page and its server: HTTP and Socket.IO on one side, the engine on the other."""
