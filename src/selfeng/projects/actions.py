"""What a build can do: the actions on its workspace, asking for a package, and being done."""

from typing import Annotated, Literal

from pydantic import Field

from selfeng.projects.workspace.actions import (
    Action,
    ActionSet,
    CreateFile,
    DeleteFile,
    ExecutePyFile,
    InsertLines,
    ReadRun,
    RemoveLines,
    ReplaceLines,
    RunTests,
    WriteFile,
)


class AddPackage(Action):
    """Ask for a Python package that the sandbox does not have. A person has to approve it."""

    action: Literal["add_package"] = "add_package"
    package: str = Field(description="Name of the package as it is imported or installed.", max_length=100)


class Finish(Action):
    """Say that the goal is met: everything that it asks for is there, tested, and works."""

    action: Literal["finish"] = "finish"
    summary: str = Field(description="What was built and how to use it, in two or three sentences for the person.", max_length=4000)


class GiveUp(Action):
    """Say that the goal can't be met, whatever the steps: it needs what is not there, or contradicts itself."""

    action: Literal["give_up"] = "give_up"
    reason: str = Field(description="What stands in the way, in one or two sentences for the person.", max_length=4000)


ProjectAction = (
    CreateFile
    | WriteFile
    | ReplaceLines
    | InsertLines
    | RemoveLines
    | DeleteFile
    | ExecutePyFile
    | RunTests
    | ReadRun
    | AddPackage
    | Finish
    | GiveUp
)
PROJECT_ACTIONS: ActionSet[ProjectAction] = ActionSet(Annotated[ProjectAction, Field(discriminator="action")])
