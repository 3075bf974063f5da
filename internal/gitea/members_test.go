package gitea_test

import (
	"testing"

	sdk "code.gitea.io/sdk/gitea"
)

// TestMembers has an organisation get a second owner, who creates a repository, and lose them again.
func TestMembers(t *testing.T) {
	w := anyServer(t)
	c := w.root(t)
	remove := func() {
		c := w.root(t)
		for _, name := range []string{"of-bob", "after-bob"} {
			_, _ = c.DeleteRepo("guild", name)
		}
		_, _ = c.DeleteOrg("guild")
		_, _ = c.AdminDeleteUser("bob")
	}
	remove()
	t.Cleanup(remove)
	const password = "bob-has-One-password"
	no := false
	must[*sdk.User](t)(c.AdminCreateUser(sdk.CreateUserOption{Username: "bob", Email: "bob@example.com", Password: password, MustChangePassword: &no}))
	must[*sdk.Organization](t)(c.CreateOrg(sdk.CreateOrgOption{Name: "guild"}))
	bob := w.client(t, "bob", password)

	teams := must[[]*sdk.Team](t)(c.ListOrgTeams("guild", sdk.ListTeamsOptions{}))
	if len(teams) != 1 || teams[0].Name != "Owners" || teams[0].Permission != sdk.AccessModeOwner {
		t.Fatalf("the teams are %+v, want the owners", teams)
	}
	team := teams[0].ID
	_, res, _ := bob.GetTeam(team)
	if res.StatusCode/100 != 4 {
		t.Errorf("the team for others: status %d", res.StatusCode)
	}
	_, res, _ = bob.ListOrgTeams("guild", sdk.ListTeamsOptions{})
	status(t, "the teams for others", res, 403)
	if got := must[[]*sdk.User](t)(bob.ListOrgMembership("guild", sdk.ListOrgMembershipOption{})); len(got) != 0 {
		t.Errorf("others are shown the members %+v", got)
	}
	res, _ = bob.AddTeamMember(team, "bob")
	if res.StatusCode/100 != 4 {
		t.Errorf("a user makes themselves an owner: status %d", res.StatusCode)
	}
	_, res, _ = bob.CreateOrgRepo("guild", sdk.CreateRepoOption{Name: "of-bob"})
	status(t, "a repository of an organisation of others", res, 403)
	if is, _, err := c.CheckOrgMembership("guild", "bob"); is || err != nil {
		t.Errorf("bob is a member before: %v, %v", is, err)
	}
	_, res, _ = c.GetTeamMember(team, "bob")
	status(t, "a member that there is not", res, 404)
	res, _ = c.AddTeamMember(team, "nobody")
	status(t, "an unknown user as a member", res, 404)

	for range 2 {
		res, err := c.AddTeamMember(team, "bob")
		if err != nil {
			t.Fatal(err)
		}
		status(t, "adding a member", res, 204)
	}
	if got := must[*sdk.User](t)(c.GetTeamMember(team, "bob")); got.UserName != "bob" {
		t.Errorf("the member is %+v", got)
	}
	if is, _, err := c.CheckOrgMembership("guild", "bob"); !is || err != nil {
		t.Errorf("bob is a member: %v, %v", is, err)
	}
	for what, got := range map[string][]*sdk.User{
		"organisation": must[[]*sdk.User](t)(bob.ListOrgMembership("guild", sdk.ListOrgMembershipOption{})),
		"team":         must[[]*sdk.User](t)(bob.ListTeamMembers(team, sdk.ListTeamMembersOptions{})),
	} {
		if len(got) != 2 {
			t.Errorf("the %s has %d members, want 2", what, len(got))
		}
	}
	if mine := must[[]*sdk.Team](t)(bob.ListMyTeams(&sdk.ListTeamsOptions{})); len(mine) != 1 || mine[0].ID != team || mine[0].Organization == nil {
		t.Errorf("the teams of bob are %+v", mine)
	}
	must[*sdk.Repository](t)(bob.CreateOrgRepo("guild", sdk.CreateRepoOption{Name: "of-bob"}))

	res, err := c.RemoveTeamMember(team, "bob")
	if err != nil {
		t.Fatal(err)
	}
	status(t, "removing a member", res, 204)
	_, res, _ = bob.CreateOrgRepo("guild", sdk.CreateRepoOption{Name: "after-bob"})
	status(t, "a repository by a former member", res, 403)
	if w.ours != nil {
		res, _ = c.DeleteOrgMembership("guild", boss)
		status(t, "removing the last owner", res, 422)
	}
}
